import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { apply } from '../../src/console/apply.ts';
import { create } from '../../src/features/recovery/snapshot-create.ts';
import { exportCommand } from '../../src/features/writing/export/command.ts';
import { realPause } from '../../src/platform/rate.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { longRows } from '../long.ts';
import { temporaryFolder } from '../temporary.ts';

/**
 * A part of one agent that the platform does not show stops nothing of the others, and not the rest of that agent. Each
 * command names the agent, the request and what to do.
 */

const PARTS = ['getPaymentReadiness', 'listAgentHistory', 'listFeatures'] as const;
type Part = (typeof PARTS)[number];

/** Documented of payment readiness are 403, 404 and 502 (Payment readiness); any request may answer 500. */
const STATUSES = [403, 404, 500, 502];

const outside = { pause: { ...realPause, sleep: async () => {} } };

const AGENTS = ['desk', 'recall'] as const;

/** Does something while a part cannot be read, and gives what was said and the agents that it dealt with. */
type Act = (
  stage: Stage,
  strike: () => void,
) => Promise<{ readonly said: string; readonly dealt: readonly string[] }>;

async function reword(stage: Stage): Promise<void> {
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
  await stage.edit('agents.yaml', 'who are due for a check-up.', 'who have a visit tomorrow.');
}

const dealtIn = (
  lines: readonly { readonly address: string }[],
  isDone: (line: never) => boolean,
) =>
  AGENTS.filter((name) =>
    lines.some((line) => line.address === `agent.${name}` && isDone(line as never)),
  );
const isPlanned = ({ action, verdict }: { action: string; verdict: string }) =>
  action === 'update' && verdict === 'ok';
const doneIn = (progress: string) =>
  AGENTS.filter((name) => progress.includes(`(agent.${name}): done`));

type Command = {
  readonly act: Act;
  /** Parts without which it leaves their agent as it is. */
  readonly leaves?: readonly Part[];
};

const COMMANDS: Readonly<Record<string, Command>> = {
  plan: {
    act: async (stage, strike) => {
      await reword(stage);
      strike();
      const { changes, notes } = await stage.plan({}, { outside });
      return { said: JSON.stringify(notes), dealt: dealtIn(changes, isPlanned) };
    },
  },
  apply: {
    act: async (stage, strike) => {
      await reword(stage);
      strike();
      const { out, err } = await stage.run(
        (to) => apply(undefined, { dir: stage.folder, format: 'text', autoApprove: true }, to),
        { outside },
      );
      return { said: out + err, dealt: doneIn(err) };
    },
  },
  drift: {
    act: async (stage, strike) => {
      for (const name of ['Front desk', 'Recall'])
        stage.sim.edit(agentNamed(stage.sim, name).id, {
          greeting_message: 'By hand.',
          system_prompt: 'By hand.',
        });
      strike();
      const { out } = await stage.run((to) => drift({ dir: stage.folder, format: 'json' }, to), {
        outside,
      });
      return { said: out, dealt: dealtIn(JSON.parse(out).changes, isPlanned) };
    },
  },
  export: {
    act: async (stage, strike) => {
      strike();
      const to = temporaryFolder();
      const { out } = await stage.run(
        (context) =>
          exportCommand({ dir: stage.folder, format: 'json', state: false, out: to }, context),
        { outside },
      );
      const files = await readdir(to, { recursive: true });
      const texts = await Promise.all(
        files
          .filter((file) => file.endsWith('.yaml'))
          .map((file) => readFile(join(to, file), 'utf8')),
      );
      const has = (name: string) => texts.some((text) => text.includes(`name: ${name}\n`));
      return {
        said: out,
        dealt: [...(has('Front desk') ? ['desk'] : []), ...(has('Recall') ? ['recall'] : [])],
      };
    },
  },
  snapshot: {
    act: async (stage, strike) => {
      strike();
      const out = join(stage.folder, 'then.snapshot');
      const said = await stage.run((to) => create({ dir: stage.folder, format: 'json', out }, to), {
        outside,
      });
      return { said: said.out, dealt: JSON.parse(said.out).resources.agent === 2 ? AGENTS : [] };
    },
  },
  rollback: {
    act: async (stage, strike) => {
      await reword(stage);
      await stage.apply();
      strike();
      const flags = {
        dir: stage.folder,
        format: 'text' as const,
        autoApprove: true,
        skipRefused: true,
      };
      const { out, err } = await stage.run((to) => rollback(flags, to), { outside, exit: [0, 3] });
      return { said: out + err, dealt: doneIn(err) };
    },
    // Without its history nobody can tell whether it was edited since the run.
    leaves: ['listAgentHistory'],
  },
};

const ROWS = Object.keys(COMMANDS).flatMap((command) =>
  PARTS.flatMap((part) => STATUSES.map((status) => ({ command, part, status }))),
);

for (const { command, part, status } of longRows(ROWS, ({ status }) => status === 502)) {
  staged(`${command}, ${part} answers ${status} for one agent`, async (stage) => {
    await stage.edit(
      'agents.yaml',
      '    status: active',
      '    status: active\n    payments: { tool_enabled: false }',
    );
    await stage.apply();
    const { id } = agentNamed(stage.sim);
    const strike = () =>
      stage.sim.faults.add({
        operation: part,
        status,
        times: 1000,
        ...(part === 'listFeatures' ? {} : { path: id }),
        body: { error: `no ${part} today` },
      });
    const { act, leaves = [] } = COMMANDS[command] as Command;
    const { said, dealt } = await act(stage, strike);
    const left = leaves.includes(part) ? ['desk'] : [];
    expect(dealt).toEqual(AGENTS.filter((name) => !left.includes(name)));
    const struck = stage.sim.requests.filter(
      (one) => one.operation === part && one.status === status,
    );
    if (struck.length > 0) expect(said.replaceAll(/\s+/g, ' ')).toContain(`no ${part} today`);
  });
}
