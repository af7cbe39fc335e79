-- What only this schema listens to goes straight to its inbox: new messages, told apart by where they go.
create type wh_routed as (own wh_new_message[], leaving wh_new_message[]);
