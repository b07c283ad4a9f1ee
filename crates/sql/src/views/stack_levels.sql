-- A level of a stack: a frame, or a function that is inlined there.
-- stack_id: The stack.
-- depth: Which frame, from 1, the innermost.
-- level: Which level of the frame, from 0, the innermost.
-- inlined: Whether the function is inlined into that of the next level.
-- function_id: The function.
-- function: Its name; NULL where there is none.
-- file: Source file.
-- line: Line in it.
SELECT f.stack_id, f.depth, l.level, l.inlined, l.function_id, l.function, l.file, l.line
FROM stack_frames f JOIN frame_levels l ON l.frame_id = f.frame_id
