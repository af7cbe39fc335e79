-- What one look at the due streams of a lane came to: messages leased, and streams left to those that have a handler.
-- tidied_streams: looked at and taken nothing from, as they are blocked, empty or left to others. is_cut: there may be more of those.
-- limits: the limit of each stream that it has locked because it waited there.
create type wh_claimed as (message_ids uuid[], left_streams int, tidied_streams int, is_cut boolean, limits text[]);
