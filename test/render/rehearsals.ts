import type { PlanDocument, Rehearsal } from '../../src/core/plan-document.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';

const plan = planOf([changeOf({ fields: [fieldOf('greeting_message', 'Hello', 'Good day')] })]);

const passed: Rehearsal = {
  digest: plan.digest,
  at: '2026-03-02T10:00:30.000Z',
  verdict: 'passed',
  source: { type: 'platform' },
  copied: { agent: 34, retry_policy: 2 },
  steps: [
    step('copy', 'a copy of the fleet (36 resources) gives the same plan'),
    step('apply', '1 done in 1 write, each read back'),
    step('again', 'a second plan is empty'),
    step('failure', 'from write 1 of 1 on the platform answered 500: 1 failed'),
    step('resume', 'a second apply completed, and the plan after it is empty'),
    step('rollback', 'both runs are rolled back'),
    step('return', 'the fleet is as before, except for new ids, history and times'),
  ],
  differences: [],
  differing: 0,
  faults: ['429', 'drawn from the seed tuesday'],
  filled: ['the history of each agent is one entry, with its current values'],
  assumptions: ['agent.list-subset'],
};

const gone = { kind: 'agent', name: 'Front desk', id: 'a1', secret: false };

/** Plans with the verdict of a rehearsal, by what it came to. */
export const rehearsals: { readonly [name: string]: PlanDocument } = {
  passed: { ...plan, rehearsal: passed },
  partial: {
    ...plan,
    rehearsal: {
      ...passed,
      verdict: 'partial',
      source: { type: 'snapshot', file: 'then.snapshot', made_at: '2026-03-01T09:00:00.000Z' },
      faults: [],
      steps: [
        ...passed.steps.slice(0, 6),
        { ...step('return', 'the fleet is not as before: 3 leaves differ'), outcome: 'partial' },
      ],
      differences: [
        {
          ...gone,
          address: 'agent.desk',
          path: 'integrations.smsProvider.auth_token',
          before: '(secret)',
          after: '(secret)',
          secret: true,
        },
        {
          ...gone,
          address: 'agent.desk',
          path: 'greeting_message',
          before: null,
          after: 'Hi \u001b[31m@everyone <b>',
        },
        {
          ...gone,
          kind: 'custom_voice',
          name: 'Bay',
          address: null,
          path: null,
          before: null,
          after: 'there',
        },
      ],
      differing: 203,
    },
  },
  refused: {
    ...plan,
    rehearsal: {
      ...passed,
      verdict: 'refused',
      steps: [
        {
          step: 'copy',
          outcome: 'refused',
          message: 'apply would refuse this plan',
          details: ['agent.desk: model needs the feature llm.alpha-4o, which is locked'],
        },
      ],
    },
  },
  'another-plan': { ...plan, rehearsal: { ...passed, digest: `sha256:${'f'.repeat(64)}` } },
};

function step(
  name: Rehearsal['steps'][number]['step'],
  message: string,
): Rehearsal['steps'][number] {
  return { step: name, outcome: 'held', message, details: [] };
}
