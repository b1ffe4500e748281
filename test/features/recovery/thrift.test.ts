import { rm } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { counting, type Stage, type StageOptions, staged } from '../../apply/stage.ts';
import { take } from '../../snapshot/taking.ts';
import { ownState, restoreOn, wipe } from './restoring.ts';

/** A restore costs two requests an agent: it is created and read back (DESIGN §5, Thrift). */

const COUNT = 12;

/** What each agent is like beside its name, and what is asked for once whatever their number. */
const AGENTS: Readonly<Record<string, readonly string[]>> = {
  'with a prompt': ['system_prompt: You answer the phone.'],
  'with a policy': ['default_retry_policy_id: { $ref: retry_policy.gentle }'],
  'with a payment tool that is off': ['payments: { tool_enabled: false }'],
};

const PLACES = {
  'into the folder of a stack, its state kept': { isStack: true, isLost: false },
  'into the folder of a stack, its state lost': { isStack: true, isLost: true },
  'without a stack': { isStack: false, isLost: false },
} as const;

/** Agents that are asked for by the id of before: where none of these is there, the list is taken at its word. */
const FEW = 5;

async function restored(
  stage: Stage,
  lines: readonly string[],
  { isStack, isLost }: (typeof PLACES)[keyof typeof PLACES],
) {
  const agents = Array.from({ length: COUNT }, (_, at) => [
    `  a${at}:`,
    `    name: Agent ${at}`,
    ...lines.map((line) => `    ${line}`),
  ]);
  await rm(`${stage.folder}/resources.yaml`, { force: true });
  await stage.write('agents.yaml', ['agents:', ...agents.flat(), ''].join('\n'));
  await stage.write(
    'policies.yaml',
    'retry_policies:\n  gentle: { name: Gentle, rules: { no_answer: { delay_seconds: 60, max_attempts: 2 } } }\n',
  );
  await stage.apply();
  const { file } = await take(stage);
  wipe(stage.sim);
  if (isLost) await stage.forget();
  const asked = counting(stage);
  asked();
  const from = stage.sim.requests.length;
  const flags = isStack ? {} : { dir: '.', state: ownState(stage) };
  const { summary } = await restoreOn(stage, file, flags);
  const facets = stage.sim.requests
    .slice(from)
    .filter(({ operation }) => operation === 'getPaymentReadiness');
  return { summary: summary(), asked: asked(), facets: facets.length };
}

describe('a restore creates each agent and reads it back', () => {
  for (const [what, lines] of Object.entries(AGENTS))
    for (const [place, how] of Object.entries(PLACES))
      staged(`${what}, ${place}`, async (stage) => {
        const { summary, asked, facets } = await restored(stage, lines, how);
        // What the stack configures of a part with an endpoint of its own is read for its state, with the agent.
        const again = how.isStack && what === 'with a payment tool that is off' ? COUNT : 0;
        expect(summary.status).toBe('done');
        expect(summary.proof?.resources).toBe(COUNT + 1);
        if (how.isStack) expect(summary.stack).toMatchObject({ resources: COUNT + 1 });
        const { createAgent, getAgent = 0, listAgentHistory = 0, listAgents = 0, ...rest } = asked;
        expect([createAgent, facets, rest]).toEqual([COUNT, again, {}]);
        expect(getAgent).toBeLessThanOrEqual(COUNT + FEW + again);
        // Whether entries have times, of one.
        expect(listAgentHistory).toBeLessThanOrEqual(1);
        // Each round lists anew, and so does what writes the stack's state.
        expect(listAgents).toBeLessThanOrEqual(6);
      });
});

/** Where a list proves nothing, the closing plan and the stack's state read each agent once more. */
const DOUBTFUL: readonly (StageOptions & { readonly name: string })[] = [
  { name: 'lists have no time', dialect: { listUpdatedAt: false } },
  { name: 'times are of whole seconds', dialect: { timestamps: 'seconds' } },
];

for (const { name, ...options } of DOUBTFUL)
  staged(
    `where ${name} the proof reads each agent`,
    async (stage) => {
      const place = PLACES['without a stack'];
      const { summary, asked } = await restored(stage, AGENTS['with a prompt'] ?? [], place);
      expect(summary.status).toBe('done');
      expect(asked.getAgent).toBeGreaterThanOrEqual(2 * COUNT);
    },
    options,
  );

staged('a resource that the list leaves out is found by its id', async (stage) => {
  await stage.apply();
  const { file } = await take(stage);
  const [id = ''] = stage.sim.store.agents.keys();
  const { strike } = stage.sim.faults;
  const left = stage.sim.store.agents.get(id);
  Object.assign(stage.sim.faults, {
    strike: (target: Parameters<typeof strike>[0]) => {
      if (target.operation === 'listAgents') stage.sim.store.agents.delete(id);
      else if (left !== undefined) stage.sim.store.agents.set(id, left);
      return strike(target);
    },
  });
  const { summary } = await restoreOn(stage, file, { dryRun: true, over: true });
  Object.assign(stage.sim.faults, { strike });
  expect(summary().remaining.filter(({ action }) => action === 'create')).toEqual([]);
});
