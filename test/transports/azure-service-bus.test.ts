import { azureLacks, azureSubject } from './azure-service-bus/subject.js';
import { describeTransport } from './conformance.js';

describeTransport('azure-service-bus by shard', () => azureSubject(), azureLacks, 'side by side');
