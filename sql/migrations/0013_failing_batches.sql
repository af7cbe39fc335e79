-- A batch of a perspective that fails as a whole, again and again. See docs/internals/bookmarks.md.

-- How often the batch behind the bookmark has failed since it was last moved, since when, and with what the last time.
alter table wh_perspective_bookmarks
  add column failures int not null default 0,
  add column failing_since timestamptz,
  add column last_error text;
