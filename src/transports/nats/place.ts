/** Where a message is in the stream. */
interface Place {
  readonly sequence: number;
  /** How many this consumer was sent, with it. */
  readonly delivered: number;
  /** Its number and its time: after a loss of data, NATS may give the number to another message. */
  readonly id: string;
}

/** Reads it from the subject to which its acknowledgement would go. */
export function placeOf({ reply }: { readonly reply?: string | undefined }): Place | undefined {
  const words = reply?.split('.') ?? [];
  // $JS.ACK.<stream>.<consumer>.<tries>.<sequence>.<delivered>.<time>.<pending>, or with domain and account before the stream.
  const at = words.length === 9 ? 5 : words.length >= 11 ? 7 : -1;
  if (at < 0) return undefined;
  return {
    sequence: Number(words[at]),
    delivered: Number(words[at + 1]),
    id: `${words[at]} ${words[at + 2]}`,
  };
}
