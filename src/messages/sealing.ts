// Sealed fields: encrypted with the key of their subject before anything is stored, and opened when they are read.
// In: a payload as JSON, its envelope's metadata, keys. Out: the payload without the sealed values, and with them again.
// In the stored payload a sealed field is null; what it was is in `metadata.sealed`. So it travels with the message
// wherever that goes, and a reader without the key reads null.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { WhizbangError } from '../errors.js';
import type { MessageId } from '../message.js';
import { invalidMessage } from './issues.js';

/** What an event seals, as its definition gives it. */
export interface Sealing<Output = unknown> {
  /** Returns the subject of a payload: the one whose data it is. */
  readonly subject: (payload: Output) => string;
  readonly fields: readonly string[];
  /** Values that the schema accepts for erased fields, which are read as null all the same. */
  readonly standIns: Readonly<Record<string, unknown>>;
}

/** The key of a subject. */
export interface SubjectKey {
  readonly keyId: string;
  readonly key: Uint8Array;
}

/** `metadata.sealed`: which key, and by field the encrypted value in base64. */
interface SealedFields {
  readonly key: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** A stored message or event. */
interface Stored {
  readonly id: MessageId;
  readonly type: string;
  readonly json: unknown;
  readonly metadata: unknown;
}

/** A payload as it was sent, but for the fields that are erased: they are null. */
export interface Unsealed {
  readonly json: unknown;
  readonly erased: readonly string[];
}

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Returns the subject of a payload. Refuses what is no text. */
export function subjectOf({ subject }: Sealing, type: string, payload: unknown): string {
  let given: unknown;
  try {
    given = subject(payload);
  } catch (cause) {
    throw noSubject(type, 'the function sealed.subject threw an error', cause);
  }
  if (typeof given === 'string' && given !== '' && !given.includes('\0') && given.isWellFormed())
    return given;
  const fact = given === '' ? 'an empty text' : typeof given === 'string' ? 'no valid text' : 'no text';
  throw noSubject(type, `the function sealed.subject returned ${fact}`);
}

/** Returns the payload without the values of its sealed fields, and what is added to the metadata. */
export function seal(
  { fields }: Sealing,
  { id, type, json }: Omit<Stored, 'metadata'>,
  { keyId, key }: SubjectKey,
): { readonly json: unknown; readonly sealed: SealedFields } {
  const plain = json as Readonly<Record<string, unknown>>;
  const missing = fields.find(
    (field) => typeof json !== 'object' || json === null || !Object.hasOwn(json, field),
  );
  if (missing !== undefined) {
    throw new WhizbangError('INVALID_MESSAGE', {
      message: `${type}: ${missing}: is a sealed field, and the payload does not have it.`,
      hint: 'Check its name in sealed.fields. Where there is no value, send null, and let the schema accept it.',
      details: { type, issues: [{ path: missing, message: 'is missing, and is a sealed field' }] },
    });
  }
  const encrypted = fields.map((field) => [field, encrypt(plain[field], key, boundTo(id, field))]);
  return {
    json: { ...plain, ...Object.fromEntries(fields.map((field) => [field, null])) },
    sealed: { key: keyId, fields: Object.fromEntries(encrypted) as Record<string, string> },
  };
}

/** The id of the key with which fields of this message are sealed; undefined when none are. */
export function sealedWith(metadata: unknown): string | undefined {
  return sealedIn(metadata)?.key;
}

/** Opens the sealed fields of a message. Those whose key is missing are erased. */
export function unseal(
  { id, type, json, metadata }: Stored,
  keys: ReadonlyMap<string, Uint8Array>,
): Unsealed {
  const sealed = sealedIn(metadata);
  if (sealed === undefined || typeof json !== 'object' || json === null) return { json, erased: [] };
  const key = keys.get(sealed.key);
  const fields = Object.entries(sealed.fields);
  if (key === undefined) return { json, erased: fields.map(([field]) => field) };
  const opened = fields.map(([field, text]) => {
    try {
      return [field, decrypt(text, key, boundTo(id, field))];
    } catch (cause) {
      const issue = { path: field, message: 'is sealed, and was changed since, or is of another message' };
      throw invalidMessage(type, [issue], { cause });
    }
  });
  return { json: { ...json, ...Object.fromEntries(opened) }, erased: [] };
}

function sealedIn(metadata: unknown): SealedFields | undefined {
  const { sealed } = (metadata ?? {}) as { sealed?: Partial<SealedFields> | null };
  const isRight =
    typeof sealed?.key === 'string' && typeof sealed.fields === 'object' && sealed.fields !== null;
  return isRight ? (sealed as SealedFields) : undefined;
}

/** The encrypted value can be opened as this field of this message only. */
const boundTo = (id: MessageId, field: string) => Buffer.from(`${id.toLowerCase()}\n${field}`);

function encrypt(value: unknown, key: Uint8Array, context: Buffer): string {
  const nonce = randomBytes(nonceBytes);
  const sealer = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(context);
  const body = Buffer.concat([sealer.update(JSON.stringify(value), 'utf8'), sealer.final()]);
  return Buffer.concat([nonce, body, sealer.getAuthTag()]).toString('base64');
}

function decrypt(text: string, key: Uint8Array, context: Buffer): unknown {
  const bytes = Buffer.from(text, 'base64');
  const opener = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  opener.setAAD(context).setAuthTag(bytes.subarray(-tagBytes));
  const body = Buffer.concat([opener.update(bytes.subarray(nonceBytes, -tagBytes)), opener.final()]);
  return JSON.parse(body.toString('utf8'));
}

function noSubject(type: string, fact: string, cause?: unknown): WhizbangError {
  return new WhizbangError('INVALID_MESSAGE', {
    message: `${type}: ${fact}.`,
    hint: 'Return the id of the person whose data it is, for example sealed: { subject: (order) => order.customerId, … }.',
    details: { type, issues: [{ path: '', message: 'has no subject' }] },
    cause,
  });
}
