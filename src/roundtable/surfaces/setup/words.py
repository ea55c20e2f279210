"""What is said of it where nothing of it is needed."""

HELP = """\
roundtable <question>   put a question to the table
roundtable setup        choose models, host, limits, language and more
roundtable config       show what is stored
roundtable help         this list

All commands and flags: roundtable --help"""
