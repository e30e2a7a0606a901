local s = ("").rep("", math.maxinteger)
