-- A stack as a line of text: names from the outermost function to the innermost, with a semicolon between. Where there is no name, that of
-- the binary stands in brackets.
-- stack_id: The stack.
-- folded: The text.
SELECT l.stack_id,
       string_agg(coalesce(s.function, '[' || trim(BOTH '[]' FROM s.dso) || ']', '[unknown]'), ';' ORDER BY l.depth DESC, l.level DESC) AS folded
FROM stack_levels l JOIN symbols s ON s.function_id = l.function_id
GROUP BY l.stack_id
