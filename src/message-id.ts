import { randomFillSync } from 'node:crypto';

const random = Buffer.alloc(4096);
let used = random.length;

/**
 * Returns sixty-two random bits and two of the variant, from a pool: one call to the kernel makes 512 ids.
 */
function randomTail(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const at = used;
  used += 8;
  random[at] = ((random[at] as number) & 0x3f) | 0x80;
  return random.toString('hex', at, at + 8);
}

/**
 * Makes UUIDs of version 7 that rise strictly within one generator: 48 bits of milliseconds, then a counter
 * of 12 bits that starts anywhere in its lower half. When the clock stands still or goes back, the last
 * time is kept and the counter rises; when the counter is full, the time moves ahead by one.
 */
export function messageIdGenerator(now: () => number = Date.now): () => string {
  let time = 0;
  let counter = 0;
  const restart = (at: number) => {
    time = at;
    counter = Math.floor(Math.random() * 0x800);
  };
  return () => {
    const at = now();
    if (at > time) restart(at);
    else if (counter < 0xfff) counter++;
    else restart(time + 1);
    const hex = time.toString(16).padStart(12, '0');
    const tail = randomTail();
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${tail.slice(0, 4)}-${tail.slice(4)}`;
  };
}

/** A new id for a message, a stream or an instance. Ids of one process sort in the order they were made. */
export const newMessageId: () => string = messageIdGenerator();
