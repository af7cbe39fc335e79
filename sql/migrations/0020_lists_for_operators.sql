-- How many dead letters each lane has is asked every two seconds while somebody looks: it is counted from the head of an index.
create index wh_dead_letters_source on wh_dead_letters (source, dead_letter_id);
