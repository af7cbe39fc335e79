import { WhizbangError } from '../errors.js';
import type { ModelPerspective } from '../fold/index.js';
import { readIssues } from '../messages/index.js';

/** What the schema of a perspective makes of a stored model. */
export async function readModel<Model>(
  { name, schema }: ModelPerspective<Model>,
  id: string,
  json: unknown,
): Promise<Model> {
  const validating = schema['~standard'].validate(json);
  const result = validating instanceof Promise ? await validating : validating;
  if (result.issues === undefined) return result.value;
  const [{ path, message } = { path: '', message: 'is not valid' }] = readIssues(result.issues, json);
  throw new WhizbangError('FOLD_FAILED', {
    message: `${name}: the stored model ${id} does not fit the schema: ${path || 'the model'}: ${message}.`,
    hint: 'It was stored by other code. Raise the version of the perspective, which builds its models again.',
    details: { name, id, path },
  });
}
