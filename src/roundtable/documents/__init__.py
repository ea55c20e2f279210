"""Documents: files and folders as people have them, read into texts for a discussion.

Text, code and Markdown are read here; PDF, Word, PowerPoint, Excel and HTML in a process of their
own, with little time, little memory and nothing of the user's environment, because whoever made
them may be anybody. What cannot be read gets one line that says why, and the rest goes on.
"""
