import { WhizbangError } from '../../errors.js';

/** What the AWS SDK throws, as far as it is looked at. */
interface SdkError {
  readonly name?: string;
  readonly message?: string;
  readonly Code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const badCredentials = [
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidClientTokenIdException',
  'InvalidSecurity',
  'InvalidSecurityException',
  'InvalidAccessKeyId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'IncompleteSignature',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'CredentialsProviderError',
];
const expiredCredentials = ['ExpiredToken', 'ExpiredTokenException', 'RequestExpired'];
const denied = [
  'AccessDenied',
  'AccessDeniedException',
  'AuthorizationError',
  'AuthorizationErrorException',
  'KmsAccessDenied',
];
const passing = [
  'Throttling',
  'ThrottlingException',
  'ThrottledException',
  'RequestThrottled',
  'TooManyRequestsException',
  'OverLimit',
  'QueueDeletedRecently',
];
const missing = [
  'QueueDoesNotExist',
  'AWS.SimpleQueueService.NonExistentQueue',
  'NotFound',
  'NotFoundException',
];

/**
 * Returns what AWS, or the way to it, answered to an action as our error: TRANSPORT_UNAVAILABLE where trying again may
 * help, PERMISSION_DENIED with the line that a policy lacks, INVALID_OPTION for wrong keys and all else.
 */
export function fromAwsError(cause: unknown, action: string, resource: string): WhizbangError {
  if (cause instanceof WhizbangError) return cause;
  const { message = String(cause) } = (cause ?? {}) as SdkError;
  const details = { action, resource };
  if (is(cause, badCredentials)) {
    return new WhizbangError('INVALID_OPTION', {
      message: `sqsTransport: AWS does not take the credentials (${action}): ${message}`,
      hint: 'Correct the option credentials, or where the AWS SDK finds them: environment, profile, role. Check region and endpoint too.',
      details: { ...details, option: 'credentials' },
      cause,
    });
  }
  if (is(cause, denied)) {
    return new WhizbangError('PERMISSION_DENIED', {
      message: `AWS refuses ${action} on ${resource}: ${message}`,
      hint: `Add to the policy of the role: {"Effect": "Allow", "Action": "${action}", "Resource": "${resource}"}. All that is needed: docs/transports/sqs.md.`,
      details,
      cause,
    });
  }
  if (is(cause, expiredCredentials)) {
    return unavailable(
      `AWS refuses ${action}: the credentials have expired.`,
      'Give credentials as a function that returns new ones, or leave them to the AWS SDK.',
      details,
      cause,
    );
  }
  if (isPassing(cause))
    return unavailable(`SQS or SNS did not do ${action}: ${message}`, undefined, details, cause);
  return new WhizbangError('INVALID_OPTION', {
    message: `AWS refuses ${action} on ${resource}: ${message}`,
    hint: 'Read what AWS says, and compare topic, queue and options with docs/transports/sqs.md.',
    details: { ...details, option: 'topology' },
    cause,
  });
}

/** Whether AWS said that the topic, the queue or the subscription does not exist. */
export const saysMissing = (error: unknown): boolean => is((error as Error | undefined)?.cause, missing);

/** Whether AWS refused the request itself, so that it is of no use to make it again. */
export const refusesRequest = (error: unknown): boolean =>
  error instanceof WhizbangError && error.code === 'INVALID_OPTION' && error.details.option === 'topology';

const is = (error: unknown, names: readonly string[]) => {
  const { name, Code } = (error ?? {}) as SdkError;
  return names.includes(name ?? '') || names.includes(Code ?? '');
};

/** No answer, or one that says: later. */
function isPassing(error: unknown): boolean {
  const status = (error as SdkError | undefined)?.$metadata?.httpStatusCode;
  return status === undefined || status >= 500 || status === 429 || is(error, passing);
}

function unavailable(
  message: string,
  hint: string | undefined,
  details: Readonly<Record<string, unknown>>,
  cause: unknown,
): WhizbangError {
  return new WhizbangError('TRANSPORT_UNAVAILABLE', { message, ...(hint && { hint }), details, cause });
}
