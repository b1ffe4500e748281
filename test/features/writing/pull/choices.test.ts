import { describe, expect } from 'vitest';
import { drift } from '../../../../src/cli/commands/drift.ts';
import type { JsonObject } from '../../../../src/core/value.ts';
import { type PullFlags, pull } from '../../../../src/features/writing/pull/command.ts';
import type { Transport } from '../../../../src/platform/transport.ts';
import { type Stage, staged } from '../../../apply/stage.ts';
import { longRows } from '../../../long.ts';
import { typedCommands } from '../../../typed-commands.ts';
import { agentId, agentRecord, commit, commitAll, FLEET, git, pulled } from './stage.ts';

function edit(stage: Stage, name: string, patch: JsonObject): void {
  stage.sim.edit(agentId(stage, name), patch);
}

/** An agent of the clinic with every agent's tools. */
type Row = {
  readonly title: string;
  readonly stack?: string;
  /** What is done to the files before the first apply. */
  readonly prepare?: (stage: Stage) => Promise<unknown>;
  readonly env?: string;
  /** What happens on the platform, and what is committed here. */
  readonly happens: (stage: Stage) => unknown;
  readonly flags?: Partial<PullFlags> & { readonly addresses?: readonly string[] };
  /** `address path: reason`, a part of it each. */
  readonly refused?: readonly string[];
  readonly kept?: readonly string[];
  /** Lines that the diff has, in order; nothing else changed. */
  readonly diff: readonly string[];
  /** Whether the next plan is empty; it is unless something is left. */
  readonly isEmpty?: false;
};

const ROWS: readonly Row[] = [
  {
    title: 'nothing moved',
    happens: () => undefined,
    diff: [],
  },
  {
    title: 'what the configuration does not mention is not pulled',
    happens: (stage) => edit(stage, 'Recall', { description: 'Found live.', echo_detection: true }),
    diff: [],
  },
  {
    title: 'a change of the configuration that is not applied is kept',
    happens: async (stage) => {
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      edit(stage, 'Front desk', { status: 'inactive' });
    },
    kept: ['agent.desk greeting_message'],
    diff: ['-    status: active', '+    status: inactive'],
    isEmpty: false,
  },
  {
    title: '--theirs takes what is live instead of it',
    happens: (stage) => stage.edit('agents.yaml', 'how can I help?', 'good day!'),
    flags: { theirs: true },
    diff: [
      '-    greeting_message: Harbor Dental, good day!',
      '+    greeting_message: Harbor Dental, how can I help?',
    ],
  },
  {
    title: '--theirs brings back what the configuration no longer has',
    happens: (stage) =>
      stage.edit('agents.yaml', '    greeting_message: Harbor Dental, how can I help?\n', ''),
    flags: { theirs: true },
    diff: ['+    greeting_message: Harbor Dental, how can I help?'],
  },
  {
    title: 'both sides changed',
    happens: async (stage) => {
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      edit(stage, 'Front desk', { greeting_message: 'Hi.', status: 'inactive' });
    },
    refused: ['agent.desk greeting_message: changed here and on the platform'],
    diff: [],
    isEmpty: false,
  },
  {
    title: 'both sides changed, and the rest is wanted',
    happens: async (stage) => {
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      edit(stage, 'Front desk', { greeting_message: 'Hi.', status: 'inactive' });
    },
    flags: { skipRefused: true },
    refused: ['agent.desk greeting_message: changed here and on the platform'],
    diff: ['-    status: active', '+    status: inactive'],
    isEmpty: false,
  },
  {
    title: 'both sides changed, and theirs is wanted',
    happens: async (stage) => {
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      edit(stage, 'Front desk', { greeting_message: 'Hi.' });
    },
    flags: { theirs: true },
    diff: ['-    greeting_message: Harbor Dental, good day!', '+    greeting_message: Hi.'],
  },
  {
    title: 'one address of two',
    happens: (stage) => {
      edit(stage, 'Front desk', { greeting_message: 'Hi.' });
      edit(stage, 'Recall', { status: 'inactive' });
    },
    flags: { addresses: ['agent.recall'] },
    diff: ['-    status: active', '+    status: inactive'],
    isEmpty: false,
  },
  {
    title: 'a secret is never written',
    happens: (stage) =>
      edit(stage, 'Front desk', {
        extensions: {
          tools: [
            {
              type: 'webhook',
              name: 'crm_lookup',
              condition: 'during_call',
              method: 'GET',
              url: 'https://crm.example.test/patients',
              headers: [{ key: 'X-Api-Key', value: 'a-new-one' }],
            },
          ],
        },
      }),
    refused: ['agent.desk extensions.tools[crm_lookup].headers[X-Api-Key].value: it is a secret'],
    diff: [],
    isEmpty: false,
  },
  {
    title: 'an element with a secret in it is not written either',
    happens: (stage) =>
      edit(stage, 'Recall', {
        extensions: {
          tools: [
            {
              type: 'webhook',
              name: 'log',
              condition: 'after_call',
              method: 'POST',
              url: 'https://log.example.test',
              headers: [{ key: 'X-Key', value: 'theirs' }],
            },
          ],
        },
      }),
    prepare: (stage) =>
      stage.edit(
        'agents.yaml',
        '    agent_type: outbound\n',
        '    agent_type: outbound\n    extensions: { tools: [] }\n',
      ),
    refused: ['agent.recall extensions.tools[log]: it holds secret values (value)'],
    diff: [],
    isEmpty: false,
  },
  {
    title: 'a resource that is gone is for a person to take out',
    happens: ({ sim }) => {
      sim.store.smsTemplates.clear();
    },
    refused: ['sms_template.reminder : '],
    diff: [],
    isEmpty: false,
  },
  {
    title: 'a base that others stand on',
    stack: FLEET,
    happens: (stage) => edit(stage, 'Night desk', { config: { inactivity_timeout: 40 } }),
    refused: [
      'agent.night config.inactivity_timeout: bases.yaml:7 is also what agent.clinic["alder"], agent.clinic["birch"], agent.clinic["cedar"], agent.desk read',
    ],
    diff: [],
    isEmpty: false,
  },
  {
    title: 'a base that others stand on, and --override',
    stack: FLEET,
    happens: (stage) =>
      edit(stage, 'Night desk', { config: { inactivity_timeout: 40, max_call_duration: 60 } }),
    flags: { override: true },
    diff: ['+        config: { inactivity_timeout: 40, max_call_duration: 60 }'],
  },
  {
    title: 'a base that others stand on, and --change-shared',
    stack: FLEET,
    happens: (stage) => edit(stage, 'Night desk', { config: { inactivity_timeout: 40 } }),
    flags: { changeShared: true },
    diff: ['-        inactivity_timeout: 20', '+        inactivity_timeout: 40'],
    // The others are to get it with the next apply.
    isEmpty: false,
  },
  {
    title: 'a base of which two want another value each, and --change-shared',
    stack: FLEET,
    happens: (stage) => {
      edit(stage, 'Night desk', { config: { inactivity_timeout: 40 } });
      edit(stage, 'Cedar', { config: { inactivity_timeout: 50 } });
    },
    flags: { changeShared: true },
    refused: [
      'agent.clinic["cedar"] config.inactivity_timeout: bases.yaml:7',
      'agent.night config.inactivity_timeout: bases.yaml:7',
    ],
    diff: [],
    isEmpty: false,
  },
  {
    title: 'a text that is put together',
    stack: FLEET,
    happens: (stage) => edit(stage, 'Cedar', { description: 'All about Cedar.' }),
    refused: [
      'agent.clinic["cedar"] description: it is put together from ${each.name} (agents/clinics.yaml:9)',
    ],
    diff: [],
    isEmpty: false,
  },
  {
    title: 'a text that is put together, and follows from the cell that changed',
    stack: FLEET,
    happens: (stage) =>
      edit(stage, 'Cedar', { name: 'Cedar Town', description: 'The desk of Cedar Town.' }),
    diff: [
      '-cedar,Cedar,"Cedar ""Clinic"", hello",0.9',
      '+cedar,Cedar Town,"Cedar ""Clinic"", hello",0.9',
    ],
  },
  {
    title: 'a cell that would change another text as well',
    stack: FLEET,
    happens: (stage) => edit(stage, 'Cedar', { name: 'Cedar Town' }),
    refused: [
      'agent.clinic["cedar"] name: writing it would change agent.clinic["cedar"] description as well',
    ],
    diff: [],
    isEmpty: false,
  },
  {
    title: 'a template',
    prepare: (stage) =>
      stage
        .edit(
          'agents.yaml',
          '{ $file: prompts/desk.md }',
          '{ $template: prompts/desk.md, with: { who: us } }',
        )
        .then(() => stage.write('prompts/desk.md', 'You work for ${who}.\n')),
    happens: (stage) => edit(stage, 'Front desk', { system_prompt: 'You work for them.' }),
    refused: [
      'agent.desk system_prompt: it is put together from $template prompts/desk.md (agents.yaml:7)',
    ],
    diff: [],
    isEmpty: false,
  },
  {
    title: 'an anchor whose alias does not follow: the alias is written out',
    stack: FLEET,
    happens: (stage) =>
      edit(stage, 'Night desk', { voicemail_message: 'Nobody is here: call again.' }),
    diff: [
      '-        voicemail_message: *mailbox',
      '+        voicemail_message: "Nobody is here: call again."',
    ],
  },
  {
    title: 'a value of an environment goes into its patch, any other where all read it',
    prepare: async (stage) => {
      const main = await stage.read('callsheet.yaml');
      const patch =
        '        agent.recall: { status: "inactive", email: [a@harbor.example.test] } # here\n';
      await stage.write('callsheet.yaml', `${main}environments:\n  live:\n    patches:\n${patch}`);
    },
    env: 'live',
    happens: (stage) => {
      edit(stage, 'Recall', { status: 'active', email: ['b@harbor.example.test'] });
      edit(stage, 'Front desk', { status: 'inactive' });
    },
    diff: [
      '-    status: active',
      '+    status: inactive',
      '-        agent.recall: { status: "inactive", email: [a@harbor.example.test] } # here',
      '+        agent.recall: { status: "active", email: [b@harbor.example.test] } # here',
    ],
  },
  {
    title: 'rows of JSON and of YAML',
    stack: FLEET,
    prepare: async (stage) => {
      await stage.remove('agents/clinics.yaml');
      await stage.write(
        'agents/rows.yaml',
        `agents:
  json:
    for_each: { $file: data/rows.json }
    key: \${each.key}
    name: \${each.name}
    email: \${each.mail}
    greeting_message: \${each.texts.hello}
  yaml:
    for_each:
      one: { name: Row one, speed: 1 }   # inline
    key: \${each.key}
    name: \${each.name}
    voice_settings: { speed: "\${each.speed}" }
`,
      );
      await stage.write(
        'data/rows.json',
        '[{"key": "a", "name": "Json row",\n  "texts": {"hello": "Hi"}, "mail": ["a@b.example"]}]\n',
      );
    },
    happens: (stage) => {
      edit(stage, 'Json row', {
        greeting_message: 'Say "hi" to ${nobody}',
        email: ['a@b.example', 'c@b.example'],
      });
      edit(stage, 'Row one', { voice_settings: { speed: 1.5 } });
    },
    diff: [
      '-      one: { name: Row one, speed: 1 }   # inline',
      '+      one: { name: Row one, speed: 1.5 }   # inline',
      '-  "texts": {"hello": "Hi"}, "mail": ["a@b.example"]}]',
      '+  "texts": {"hello": "Say \\"hi\\" to ${nobody}"}, "mail": ["a@b.example", "c@b.example"]}]',
    ],
  },
  {
    title: 'a cell that is emptied, with a base beneath it',
    stack: FLEET,
    prepare: (stage) =>
      stage.edit(
        'bases.yaml',
        '    enable_recording',
        '    greeting_message: Hi\n    enable_recording',
      ),
    happens: (stage) => edit(stage, 'Cedar', { greeting_message: null }),
    refused: [
      'agent.clinic["cedar"] greeting_message: the configuration would not have the live value',
    ],
    diff: [],
    isEmpty: false,
  },
  {
    title: 'members of an object without a schema that are gone, one of which a base has as well',
    stack: FLEET,
    prepare: async (stage) => {
      const own = '        config: { url: a, n: 3, inactivity_timeout: 9 }\n';
      await stage.edit(
        'agents/desk.yaml',
        '        status: active\n',
        `        status: active\n${own}`,
      );
    },
    happens: (stage) =>
      edit(stage, 'Front desk', { config: { url: null, n: null, inactivity_timeout: null } }),
    diff: [
      '-        config: { url: a, n: 3, inactivity_timeout: 9 }',
      '+        config: { inactivity_timeout: null }',
    ],
  },
  {
    title: 'a list becomes an object, and an object a text',
    prepare: (stage) =>
      stage.edit(
        'agents.yaml',
        '    name: Recall\n',
        '    name: Recall\n    config: { hours: [a, b], calls: { most: 3 } } # by hand\n',
      ),
    happens: (stage) => {
      edit(stage, 'Recall', { config: null });
      edit(stage, 'Recall', { config: { hours: { mon: ['a'] }, calls: 'any' } });
    },
    diff: [
      '-    config: { hours: [a, b], calls: { most: 3 } } # by hand',
      '+    config: { hours: { mon: [a] }, calls: any } # by hand',
    ],
  },
  {
    title: 'an object in a list, whose members keep their order and nulls',
    prepare: (stage) =>
      stage.edit(
        'agents.yaml',
        '    name: Recall\n',
        '    name: Recall\n    config: { list: [{ a: 1, b: 2 }] }\n',
      ),
    happens: (stage) => edit(stage, 'Recall', { config: { list: [{ b: 3, c: null, a: 1 }] } }),
    diff: [
      '-    config: { list: [{ a: 1, b: 2 }] }',
      '+    config: { list: [{ a: 1, b: 3, c: null }] }',
    ],
  },
  {
    title: 'an element of which a base has a part',
    stack: FLEET,
    prepare: (stage) =>
      stage.edit(
        'bases.yaml',
        '    base: house\n',
        '    base: house\n    extensions: { tools: [{ name: fax, friendlyName: Fax }] }\n',
      ),
    happens: (stage) => {
      const { extensions } = agentRecord(stage, 'Front desk') as {
        extensions: { tools: readonly JsonObject[] };
      };
      const tools = extensions.tools.filter(({ name }) => name !== 'fax');
      edit(stage, 'Front desk', { extensions: { tools } });
    },
    refused: [
      'agent.desk extensions.tools[fax]: base talkative and agent.desk each say something of it',
    ],
    diff: [],
    isEmpty: false,
  },
  {
    title: 'a reference to a policy that nobody manages becomes its id',
    happens: (stage) => {
      const [policy = {}] = stage.sim.store.retryPolicies.values();
      const id = '0d0e7f1a-54a3-4b0e-9b1c-2f6d8e9a0b11';
      stage.sim.store.retryPolicies.set(id, { ...policy, id, name: 'By hand' });
      edit(stage, 'Recall', { default_retry_policy_id: id });
    },
    diff: [
      '-    default_retry_policy_id: { $ref: retry_policy.gentle }',
      '+    default_retry_policy_id: 0d0e7f1a-54a3-4b0e-9b1c-2f6d8e9a0b11',
    ],
  },
  {
    title: 'what is not valid here stays out',
    happens: (stage) => edit(stage, 'Recall', { agent_type: 'brand_new' }),
    refused: ['agent.recall agent_type: the live value is not valid'],
    diff: [],
    isEmpty: false,
  },
  {
    title: 'without a state everything that differs is taken',
    happens: async (stage) => {
      await stage.forget();
      edit(stage, 'Recall', { status: 'inactive' });
    },
    diff: ['-    status: active', '+    status: inactive'],
  },
  {
    title: 'a literal ${ is escaped',
    happens: (stage) => edit(stage, 'Front desk', { greeting_message: 'It costs ${nothing}.' }),
    diff: [
      '-    greeting_message: Harbor Dental, how can I help?',
      '+    greeting_message: It costs $${nothing}.',
    ],
  },
];

function changed(stage: Stage): readonly string[] {
  const diff = git(stage, 'diff', '--no-color', '-U0').split('\n');
  return diff
    .filter((line) => /^[-+](?![-+]{2} )/.test(line))
    .map((line) => line.replace('\r', ''));
}

/** Rows of which another one goes the same way, with one thing less at a time. */
const ALIKE: readonly string[] = [
  'both sides changed, and the rest is wanted',
  'an element with a secret in it is not written either',
  'a base of which two want another value each, and --change-shared',
  'a text that is put together, and follows from the cell that changed',
  'a cell that would change another text as well',
  'rows of JSON and of YAML',
  'a cell that is emptied, with a base beneath it',
  'an element of which a base has a part',
  'what is not valid here stays out',
  'a literal ${ is escaped',
];

describe('pull', () => {
  const short = longRows(ROWS, ({ title }) => !ALIKE.includes(title));
  for (const { title, stack, prepare, env, happens, flags = {}, ...wanted } of short) {
    const chosen = env === undefined ? {} : { env };
    staged(
      title,
      async (stage) => {
        await prepare?.(stage);
        await stage.apply(chosen);
        await happens(stage);
        await commitAll(stage);
        const { refused = [], kept = [], diff, isEmpty = true } = wanted;
        const exit = refused.length > 0 && flags.skipRefused !== true ? 4 : 0;
        const document = await pulled(stage, { ...flags, ...chosen }, { exit });
        expect(document.kept.map(({ address, path }) => `${address} ${path}`)).toEqual(kept);
        expect(document.refused).toHaveLength(refused.length);
        for (const [index, words] of refused.entries()) {
          const { address, path, reason } = document.refused[index] ?? {};
          expect(`${address} ${path}: ${reason}`).toContain(words);
        }
        expect(changed(stage)).toEqual(diff);
        const { changes } = await stage.plan(chosen, { exit: 'any' });
        if (isEmpty) expect(changes.filter(({ action }) => action !== 'adopt')).toEqual([]);
        else expect(changes).not.toEqual([]);
      },
      stack === undefined ? {} : { stack },
    );
  }
});

describe('what pull advises where it refuses', () => {
  const advised: readonly (readonly [string, (stage: Stage) => unknown, string, string])[] = [
    [
      'a conflict',
      async (stage) => {
        await stage.edit('agents/desk.yaml', 'name: Night desk', 'name: Night shift');
        edit(stage, 'Night desk', { name: 'Late desk' });
      },
      'name',
      'to take the live value: `callsheet pull agent.night --theirs`; to write the value of the files: `callsheet apply --target agent.night --accept-conflicts`',
    ],
    [
      'a base that others stand on',
      (stage) => edit(stage, 'Night desk', { config: { inactivity_timeout: 40 } }),
      'config.inactivity_timeout',
      'to write it on the resource itself: `callsheet pull agent.night --override`; to change it there, for the 4 others, too: `callsheet pull agent.night --change-shared`',
    ],
  ];
  for (const [title, happens, path, advice] of longRows(advised, (_, at) => at === 0)) {
    staged(
      `is a command that can be pasted: ${title}`,
      async (stage) => {
        await stage.apply();
        await happens(stage);
        const { refused } = await pulled(stage, {}, { exit: 4 });
        const dir = ` --dir ${stage.folder}`;
        expect(refused.map((one) => ({ ...one, advice: one.advice.replaceAll(dir, '') }))).toEqual([
          { address: 'agent.night', path, reason: expect.any(String), advice },
        ]);
        const flags = { dir: stage.folder, format: 'text' } as const;
        const { out } = await stage.run((to) => pull(['agent.night'], flags, to), { exit: 4 });
        expect(typedCommands(out)).toContain(
          `callsheet pull agent.night --skip-refused --dir ${stage.folder}`,
        );
      },
      { stack: FLEET },
    );
  }
});

describe('what drift advises to keep what changed', () => {
  const advised: readonly (readonly [string, (stage: Stage) => unknown, readonly string[]])[] = [
    [
      'of a value of its own',
      (stage) => edit(stage, 'Night desk', { name: 'Late desk' }),
      ['pull --dry-run'],
    ],
    [
      'of a base that others stand on',
      (stage) => edit(stage, 'Night desk', { config: { inactivity_timeout: 40 } }),
      ['pull --override --dry-run', 'pull --change-shared --dry-run'],
    ],
    [
      'of a base, of which two have another value each',
      (stage) => {
        edit(stage, 'Night desk', { config: { inactivity_timeout: 40 } });
        edit(stage, 'Cedar', { config: { inactivity_timeout: 50 } });
      },
      ['pull --override --skip-refused --dry-run'],
    ],
    [
      'of a text that is put together for each row',
      (stage) => edit(stage, 'Cedar', { description: 'All about Cedar.' }),
      ['pull --skip-refused --dry-run'],
    ],
    [
      'of a conflict about a value of a base',
      async (stage) => {
        await stage.edit('bases.yaml', 'inactivity_timeout: 20', 'inactivity_timeout: 25');
        edit(stage, 'Night desk', { config: { inactivity_timeout: 40 } });
      },
      ['pull agent.night --theirs --override --dry-run'],
    ],
  ];
  for (const [title, happens, commands] of longRows(advised, (_, at) => at < 2)) {
    staged(
      `is a command that pull carries out: ${title}`,
      async (stage) => {
        await stage.apply();
        await happens(stage);
        const flags = { dir: stage.folder, format: 'text' } as const;
        const { out } = await stage.run((to) => drift(flags, to));
        const told = typedCommands(out).filter((command) => command.startsWith('callsheet pull '));
        expect(told).toEqual(commands.map((command) => `callsheet ${command}`));
        for (const command of told) {
          await pulled(stage, {
            addresses: command.split(' ').filter((word) => word.startsWith('agent.')),
            dryRun: true,
            theirs: command.includes('--theirs'),
            override: command.includes('--override'),
            changeShared: command.includes('--change-shared'),
            skipRefused: command.includes('--skip-refused'),
          });
        }
      },
      { stack: FLEET },
    );
  }
});

describe('around it', () => {
  staged(
    'two ways to treat shared values exclude each other, before anything is read',
    async (stage) => {
      const flags = {
        dir: stage.folder,
        format: 'text',
        override: true,
        changeShared: true,
      } as const;
      const { err } = await stage.run((to) => pull([], flags, to), { exit: 1 });
      expect(err).toContain('--override and --change-shared exclude each other');
      expect(stage.sim.requests).toEqual([]);
    },
  );

  staged('a tree with changes is left alone, unless that is allowed', async (stage) => {
    await stage.apply();
    await commitAll(stage);
    edit(stage, 'Recall', { status: 'inactive' });
    await stage.edit('agents.yaml', 'name: Recall', 'name: Recall # soon');
    const before = await stage.read('agents.yaml');
    const { err } = await stage.run(
      async (to) =>
        (await import('../../../../src/features/writing/pull/command.ts')).pull(
          [],
          { dir: stage.folder, format: 'text' },
          to,
        ),
      { exit: 4 },
    );
    expect(err).toContain('agents.yaml changed and not committed');
    expect(await stage.read('agents.yaml')).toBe(before);
    await pulled(stage, { allowDirty: true });
    expect(await stage.read('agents.yaml')).toBe(
      before.replace(/(name: Recall # soon\n {4}status: )active/, '$1inactive'),
    );
  });

  staged('--dry-run writes nothing, wherever the stack lies, and shows a diff', async (stage) => {
    await stage.apply();
    edit(stage, 'Recall', { status: 'inactive' });
    const before = await stage.read('agents.yaml');
    const { status, files } = await pulled(stage, { dryRun: true });
    expect(status).toBe('dry_run');
    expect(files.map(({ diff }) => diff)).toEqual([
      [
        '--- a/agents.yaml',
        '+++ b/agents.yaml',
        '@@ -24,7 +24,7 @@',
        ' ',
        '   recall:',
        '     name: Recall',
        '-    status: active',
        '+    status: inactive',
        '     agent_type: outbound',
        '     system_prompt: You call people who are due for a check-up.',
        '     default_retry_policy_id: { $ref: retry_policy.gentle }',
      ].join('\n'),
    ]);
    expect(await stage.read('agents.yaml')).toBe(before);
  });

  staged('drift --accept does the same for the addresses given', async (stage) => {
    await stage.apply();
    await commitAll(stage);
    edit(stage, 'Recall', { status: 'inactive' });
    edit(stage, 'Front desk', { status: 'inactive' });
    const flags = { dir: stage.folder, format: 'text', accept: ['agent.recall'] } as const;
    const { out } = await stage.run((to) => drift(flags, to));
    expect(out).toContain('Pulled 1 live value into 1 file.');
    expect(changed(stage)).toEqual(['-    status: active', '+    status: inactive']);
    commit(stage);
    const left = await stage.plan();
    expect(left.changes.map(({ address }) => address)).toEqual(['agent.desk']);
  });

  staged('drift --accept stands alone', async (stage) => {
    await stage.apply();
    const flags = { dir: stage.folder, format: 'markdown', accept: ['agent.recall'] } as const;
    const { err } = await stage.run((to) => drift(flags, to), { exit: 1 });
    expect(err).toContain('--format markdown cannot be used with --accept');
  });

  staged('an address that nothing has', async (stage) => {
    await stage.apply();
    const { err } = await stage.run(
      async (to) =>
        (await import('../../../../src/features/writing/pull/command.ts')).pull(
          ['agent.recal'],
          { dir: stage.folder, format: 'text' },
          to,
        ),
      { exit: 1 },
    );
    expect(err).toContain('Did you mean agent.recall?');
  });
});

staged('a prompt that somebody edits while pull is at work is left to them', async (stage) => {
  await stage.apply();
  edit(stage, 'Front desk', { system_prompt: 'Live.' });
  const mine = 'Mine, and not saved anywhere else.\n';
  const wire = (transport: Transport): Transport => ({
    ...transport,
    async send(request) {
      await stage.write('prompts/desk.md', mine);
      return transport.send(request);
    },
  });
  const { err } = await stage.run(
    (to) => pull([], { dir: stage.folder, format: 'text' }, { ...to, wire }),
    { exit: 5 },
  );
  expect(err).toContain('prompts/desk.md was changed while pull was running');
  expect(await stage.read('prompts/desk.md')).toBe(mine);
});

describe('what --dry-run shows', () => {
  staged('nothing of a secret that stands on a line with what changes', async (stage) => {
    const url = 'url: https://crm.example.test/patients';
    await stage.edit(
      'agents.yaml',
      `        - type: webhook
          name: crm_lookup
          condition: during_call
          method: GET
          ${url}
          headers: [{ key: X-Api-Key, value: { $secret: env:CRM_KEY } }]`,
      `        - { type: webhook, name: crm_lookup, condition: during_call, method: GET, ${url}, headers: [{ key: X-Api-Key, value: plain-key-5f1c }] }`,
    );
    await stage.apply();
    await commitAll(stage);
    const { extensions } = agentRecord(stage, 'Front desk');
    const text = JSON.stringify(extensions).replace('/patients', '/people');
    edit(stage, 'Front desk', { extensions: JSON.parse(text) });
    const { status, files } = await pulled(stage, { dryRun: true });
    expect(status).toBe('dry_run');
    expect(files[0]?.diff).toContain('-(secret)');
    expect(files[0]?.diff).toContain('+(secret)');
    expect(files[0]?.diff).not.toContain('plain-key-5f1c');
  });
});
