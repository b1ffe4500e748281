import { describe, expect } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';

const desk = ({ sim }: Stage): string => agentNamed(sim).id;

describe('what is drift and what is not', () => {
  const rows: readonly (readonly [string, (stage: Stage) => unknown, readonly string[]])[] = [
    ['nothing happened', () => undefined, []],
    [
      'a field that the configuration does not mention',
      (stage) =>
        stage.sim.edit(desk(stage), { echo_detection: true, config: { inactivity_timeout: 9 } }),
      [],
    ],
    [
      'a change of the configuration',
      (stage) => stage.edit('agents.yaml', 'how can I help?', 'good day!'),
      [],
    ],
    [
      'a field that the configuration has',
      (stage) => stage.sim.edit(desk(stage), { greeting_message: 'Edited.' }),
      ['agent.desk greeting_message'],
    ],
    [
      'a member of an object, beside one that nobody owns',
      (stage) => stage.sim.edit(desk(stage), { voice_settings: { speed: 2, pitch: 1 } }),
      ['agent.desk voice_settings.speed'],
    ],
    [
      'a webhook that somebody added',
      (stage) =>
        stage.sim.edit(desk(stage), {
          extensions: {
            tools: [
              ...(toolsOf(stage) as []),
              {
                type: 'webhook',
                name: 'fax',
                condition: 'after_call',
                method: 'POST',
                url: 'https://fax.example.test',
              },
            ],
          },
        }),
      ['agent.desk extensions.tools[fax]'],
    ],
    [
      'a field of what is no longer configured',
      async (stage) => {
        stage.sim.edit(desk(stage), { greeting_message: 'Edited.', system_prompt: 'By hand.' });
        const text = await stage.read('agents.yaml');
        const [from, to] = [text.indexOf('  desk:'), text.indexOf('  recall:')];
        await stage.write('agents.yaml', text.slice(0, from) + text.slice(to));
      },
      ['agent.desk greeting_message', 'agent.desk system_prompt'],
    ],
    [
      'nothing of what is no longer configured',
      async (stage) => {
        const text = await stage.read('agents.yaml');
        await stage.write('agents.yaml', text.slice(0, text.indexOf('  recall:')));
      },
      [],
    ],
    [
      'nothing that the platform does not return of what is no longer configured',
      async (stage) => {
        const text = await stage.read('agents.yaml');
        const payments = '    payments: { tool_enabled: false, max_per_call_cents: 80000 }\n';
        await stage.write('agents.yaml', text.replace('  desk:\n', `  desk:\n${payments}`));
        await stage.apply();
        const [from, to] = [text.indexOf('  desk:'), text.indexOf('  recall:')];
        await stage.write('agents.yaml', text.slice(0, from) + text.slice(to));
      },
      [],
    ],
    [
      'a webhook of what is no longer configured, and a field that was cleared',
      async (stage) => {
        const fax = { type: 'webhook', name: 'fax', condition: 'after_call', method: 'POST' };
        const tools = [...(toolsOf(stage) as []), { ...fax, url: 'https://fax.example.test' }];
        stage.sim.edit(desk(stage), { extensions: { tools }, greeting_message: null });
        const text = await stage.read('agents.yaml');
        const [from, to] = [text.indexOf('  desk:'), text.indexOf('  recall:')];
        await stage.write('agents.yaml', text.slice(0, from) + text.slice(to));
      },
      [
        'agent.desk extensions.tools[fax].type',
        'agent.desk extensions.tools[fax].name',
        'agent.desk extensions.tools[fax].condition',
        'agent.desk extensions.tools[fax].method',
        'agent.desk extensions.tools[fax].url',
        'agent.desk greeting_message',
      ],
    ],
    [
      'a policy that was changed',
      ({ sim }) => {
        const [policy] = sim.store.retryPolicies.values();
        if (policy) policy.on_exhausted = 'notify';
      },
      ['retry_policy.gentle on_exhausted'],
    ],
    [
      'both sides changed',
      async (stage) => {
        stage.sim.edit(desk(stage), { greeting_message: 'Edited.' });
        await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      },
      ['agent.desk greeting_message'],
    ],
  ];
  for (const [what, happens, found] of rows) {
    staged(what, async (stage) => {
      await stage.apply();
      await happens(stage);
      const flags = { dir: stage.folder, format: 'json', detailedExitcode: true } as const;
      const exit = found.length === 0 ? 0 : 2;
      const { out } = await stage.run((to) => drift(flags, to), { exit });
      const changes: readonly { address: string; fields: readonly { path: string }[] }[] =
        JSON.parse(out).changes;
      expect(
        changes.flatMap(({ address, fields }) => fields.map(({ path }) => `${address} ${path}`)),
      ).toEqual(found);
    });
  }
});

function toolsOf(stage: Stage): unknown {
  const extensions = stage.sim.store.agents.get(desk(stage))?.record.extensions;
  return typeof extensions === 'object' && extensions !== null && 'tools' in extensions
    ? extensions.tools
    : [];
}
