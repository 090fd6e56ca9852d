-- One row is the wish of the user that timelines show the calls of Python functions; without the option python_frames there is
-- none.
--
-- is_asked  BOOLEAN  true
SELECT true AS is_asked
WHERE getvariable('python_frames')
