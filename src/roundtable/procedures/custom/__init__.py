"""Custom procedures: a user's own, from a file, interpreted by one generic procedure.

A definition is looked up by name when a discussion is opened, and stored with it. From then on the
discussion's procedure is `custom:NAME`, for which no file is needed: resuming and showing it work
in every folder, and after the file has changed or gone.
"""
