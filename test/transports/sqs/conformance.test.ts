import { describeTransport } from '../conformance.js';
import { makeSqsSubject } from './sqs-subject.js';

const lacking = {
  unreadableContent:
    'a body of SQS is a text that is not empty: two of the cases cannot arrive, the others are in receiving.test.ts',
  binaryMode: 'CloudEvents has no binding for SQS: there is only structured mode',
};

describeTransport('sqs', makeSqsSubject, lacking, 'side by side');
