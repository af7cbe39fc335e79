// Ids that lead somewhere.
import { linkTo } from '../state/address.js';
import { schema } from '../state/live.js';
import { shortId } from '../text/format.js';

export const MessageLink = ({ id }: { id: string }) => (
  <a href={linkTo(schema.value, 'message', id)} title={id} class="id">
    {shortId(id)}
  </a>
);

export const StreamLink = ({ id }: { id: string }) => (
  <a href={linkTo(schema.value, 'stream', id)} title={id} class="id">
    {shortId(id)}
  </a>
);

export const State = ({ name }: { name: string }) => <span class={`badge ${name}`}>{name}</span>;
