/** What a process of a journey is told to be. */
export interface JourneyPlan {
  readonly connectionString: string;
  /** Written beside its effects. */
  readonly name: string;
  /** `shop` handles orders; `till` has no receptors, so it only publishes what is in its outbox. */
  readonly role: 'shop' | 'till';
  readonly way: Way;
}

/** How its messages travel: a transport and its options, as JSON. */
export type Way =
  | { readonly by: 'rabbitmq'; readonly urls: readonly string[]; readonly prefix: string }
  | {
      readonly by: 'nats';
      readonly servers: readonly string[];
      readonly prefix: string;
      readonly replicas: number;
    }
  | { readonly by: 'sqs'; readonly endpoint: string; readonly topic: string }
  | { readonly by: 'azure'; readonly connectionString: string; readonly administrationUrl: string }
  | {
      readonly by: 'postgres';
      readonly databases: Readonly<Record<string, { connectionString: string; schema: string }>>;
    };
