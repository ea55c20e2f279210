"""The grammar of the command line, by the groups of its help: one file each. What a command does
stands in a module of its own beside this folder, and is imported when it is called."""
