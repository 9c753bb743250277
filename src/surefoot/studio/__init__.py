"""The studio: a page in the browser where one sees it walk, pushes it, edits it and saves it."""
