-- How the decision turned out in the world, once somebody has said so: good, mixed or bad.
ALTER TABLE discussions ADD COLUMN outcome TEXT;
