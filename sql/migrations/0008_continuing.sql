-- Whether new messages may be leased to the caller behind those of their stream that it still holds.
alter type wh_call add attribute continues boolean;
