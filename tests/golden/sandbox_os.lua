-- The system.
os.execute("true")
