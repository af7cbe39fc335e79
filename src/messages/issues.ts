// What a schema found wrong, in a form that may be logged and stored: where, and what was expected. The
// libraries put the value itself into their messages (valibot: 'received "hunter2"'); here it is removed.
import { WhizbangError } from '../errors.js';
import { type Path, pathText, valueAt } from './path.js';
import type { SchemaIssue } from './standard-schema.js';

/** One fault in a field of a payload, in `details.issues` of `INVALID_MESSAGE`. */
export interface MessageIssue {
  /** The path, such as `lines[0].price`; empty for the payload as a whole. */
  readonly path: string;
  readonly message: string;
}

/**
 * Limit on the listed issues. The same mistake in every line of a long list is one mistake; more entries do
 * not help.
 */
const mostIssues = 20;

export function readIssues(issues: readonly SchemaIssue[], validated: unknown): MessageIssue[] {
  return issues.slice(0, mostIssues).map((issue) => {
    // Not path.map: arktype's paths are a subclass of Array, and map would construct another of those.
    const path: Path = Array.from(issue.path ?? [], (part) => (typeof part === 'object' ? part.key : part));
    return { path: pathText(path), message: messageWithoutValue(issue, valueAt(validated, path)) };
  });
}

export function invalidMessage(
  type: string,
  issues: readonly MessageIssue[],
  { cause, ...details }: { readonly cause?: unknown; readonly [fact: string]: unknown } = {},
): WhizbangError {
  const [{ path, message } = { path: '', message: 'is not valid' }] = issues;
  return new WhizbangError('INVALID_MESSAGE', {
    message: `${type}: ${path === '' ? 'the payload' : path}: ${message}.`,
    details: { type, issues, ...details },
    cause,
  });
}

/** An issue with the fields `expected`, `received` and `actual`, which valibot and arktype add. */
type VendorIssue = SchemaIssue & Partial<Record<'expected' | 'received' | 'actual', unknown>>;

function messageWithoutValue(issue: VendorIssue, value: unknown): string {
  if (!shows(issue, issue.message, value)) return issue.message;
  const { expected } = issue;
  const isUsable = typeof expected === 'string' && !containsLeaf(expected, value);
  return isUsable ? `expected ${expected}, received ${kindOf(value)}` : 'is not valid';
}

function shows({ received, actual }: VendorIssue, message: string, value: unknown): boolean {
  const rendered = [received, actual].filter((text) => typeof text === 'string' && text !== '') as string[];
  return rendered.some((text) => message.includes(text)) || containsLeaf(message, value);
}

/**
 * Shorter values are not searched for: they occur in many messages by chance ("at least 1") and reveal
 * nothing.
 */
const shortestSecret = 4;
const deepestLook = 30;

function containsLeaf(message: string, value: unknown, depth = 0): boolean {
  if (depth > deepestLook) return true; // not known: then the message is not used
  if (typeof value === 'string' || typeof value === 'number') {
    // The beginning is enough: libraries cut long values.
    const text = String(value).trim().slice(0, 16);
    return text.length >= shortestSecret && message.includes(text);
  }
  return typeof value === 'object' && value !== null
    ? Object.values(value).some((member) => containsLeaf(message, member, depth + 1))
    : false;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
