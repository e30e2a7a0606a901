-- Code from text.
load("return 1")()
