import { describeTransport } from '../conformance.js';
import { azureLacks, azureSubject } from './subject.js';

describeTransport(
  'azure-service-bus by stream',
  () => azureSubject({ sessions: 'stream' }),
  azureLacks,
  'side by side',
);
