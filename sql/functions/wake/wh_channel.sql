-- The channel on which workers of this schema listen. Another one for each schema; needs no quotes.
create or replace function wh_channel()
returns text
language sql stable
set search_path from current
as $$
  select 'whizbang_' || to_hex(hashtextextended(current_schema(), 0))
$$;
