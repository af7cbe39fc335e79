-- A sweep reads a long stream in parts. See docs/internals/bookmarks.md.

-- The stream that is read in parts, which counts as born up to swept already, and the last version that was read.
alter table wh_perspective_bookmarks
  add column part_stream_id uuid,
  add column part_version bigint;
