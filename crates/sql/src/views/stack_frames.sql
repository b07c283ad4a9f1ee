-- A frame of a stack.
-- stack_id: The stack.
-- depth: How deep, from 1, the innermost.
-- frame_id: The frame.
SELECT stack_id, depth, frame_ids[depth] AS frame_id
FROM (SELECT stack_id, frame_ids, unnest(range(1, depth + 1)) AS depth FROM stacks)
