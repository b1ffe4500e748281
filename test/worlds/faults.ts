import fc from 'fast-check';
import type { Json } from '../../src/core/value.ts';
import type { Fault } from '../../src/simulator/index.ts';

const WRITES = [
  'createAgent',
  'updateAgent',
  'deleteAgent',
  'createRetryPolicy',
  'updateRetryPolicy',
  'deleteRetryPolicy',
  'createEmailTemplate',
  'updateEmailTemplate',
  'deleteEmailTemplate',
  'createSmsTemplate',
  'updateSmsTemplate',
  'deleteSmsTemplate',
  'createKnowledgeSource',
  'createCustomVoice',
] as const;
const READS = [
  'getAgent',
  'listAgents',
  'listRetryPolicies',
  'listEmailTemplates',
  'listSmsTemplates',
  'listKnowledgeSources',
  'listCustomVoices',
  'listAgentHistory',
  'getMe',
  'createToken',
] as const;

const when = { skip: fc.nat(3), times: fc.integer({ min: 1, max: 3 }) };
const write = fc.constantFrom<Fault['operation']>(...WRITES, '*');
const read = fc.constantFrom<Fault['operation']>(...READS, '*');

/** A page that is not all of what its own total says, and one that comes again and again. */
const PAGES = [
  {
    data: [],
    pagination: { page: 1, limit: 100, total: 7, totalPages: 1, hasNext: false, hasPrev: false },
  },
  {
    data: [],
    pagination: { page: 1, limit: 100, total: 7, totalPages: 3, hasNext: true, hasPrev: false },
  },
] as const;

/** Anything that may go wrong between here and the platform. */
export const fault: fc.Arbitrary<Fault> = fc.oneof(
  // The answer is lost after the work was done.
  fc.record({
    operation: write,
    ...when,
    reset: fc.constantFrom('after' as const, 'head' as const),
  }),
  fc.record({ operation: write, ...when, truncate: fc.constant(true) }),
  fc.record({
    operation: write,
    ...when,
    status: fc.constantFrom(500, 502, 503),
    done: fc.boolean(),
  }),
  fc.record({
    operation: write,
    times: fc.constant(1),
    skip: fc.nat(2),
    hang: fc.constantFrom('before' as const, 'after' as const),
  }),
  // Reads that fail, and storms.
  fc.record({
    operation: read,
    ...when,
    reset: fc.constantFrom('before' as const, 'head' as const),
  }),
  fc.record({ operation: read, ...when, truncate: fc.constant(true) }),
  fc.record({
    operation: read,
    skip: fc.nat(5),
    times: fc.integer({ min: 1, max: 12 }),
    status: fc.constantFrom(429, 503),
  }),
  fc.record({
    operation: fc.constantFrom(
      'listAgents' as const,
      'listEmailTemplates' as const,
      'listRetryPolicies' as const,
    ),
    times: fc.constant(1),
    skip: fc.nat(1),
    body: fc.constantFrom<Json>(...PAGES),
  }),
);
