import { describe, expect, onTestFinished, test } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { apply } from '../../src/console/apply.ts';
import type { PlanFlags } from '../../src/console/context.ts';
import { plan } from '../../src/console/plan.ts';
import type { KeptEdits, PlanDocument } from '../../src/core/plan-document.ts';
import { runTree } from '../../src/features/fleet/apply-tree.ts';
import { rehearse } from '../../src/features/rehearse/command.ts';
import { pull } from '../../src/features/writing/pull/command.ts';
import { openStage, type Said, type Stage, VIEWS } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { ofEvent, startWatching } from '../features/watch/watching.ts';
import { coveringRows } from '../long.ts';

/** `guards.drift`: what becomes of an edit whose configuration did not change, whatever is edited and whatever applies. */

type Row = {
  readonly what: string;
  readonly address: string;
  /** The leaf that is listed. */
  readonly path: string;
  readonly prepare?: (stage: Stage) => Promise<void>;
  /** What somebody does in the dashboard. */
  readonly edit: (stage: Stage) => void;
  /** What is live at the edited place. */
  readonly live: (stage: Stage) => unknown;
  /** A change of the files right beside it: texts of the files before and after. */
  readonly beside: readonly [file: string, from: string, to: string];
  readonly besideLive: (stage: Stage) => unknown;
};

const desk = ({ sim }: Stage) => agentNamed(sim);
const record = (stage: Stage) => loose(agentOf(stage).record);
/** What the simulator keeps, whose members are of no type. */
// biome-ignore lint/suspicious/noExplicitAny: the rows name what they look for
const loose = (value: unknown) => value as Record<string, any>;
const agentOf = (stage: Stage) => {
  const agent = stage.sim.store.agents.get(desk(stage).id);
  if (agent === undefined) throw new Error('no such agent');
  return agent;
};
const tools = (stage: Stage) =>
  record(stage).extensions.tools as readonly ReturnType<typeof loose>[];
const editTools = (stage: Stage, change: (tool: ReturnType<typeof loose>) => object) =>
  stage.sim.edit(desk(stage).id, {
    extensions: { ...record(stage).extensions, tools: tools(stage).map(change) as never },
  });
const first = <T>(all: Map<string, T>): T => {
  const [one] = all.values();
  if (one === undefined) throw new Error('there is none');
  return one;
};
const METHOD = ['agents.yaml', 'method: GET', 'method: POST'] as const;
const GREETING = ['agents.yaml', 'how can I help?', 'good day!'] as const;
const greeting = (stage: Stage) => record(stage).greeting_message;

const ROWS: readonly Row[] = [
  {
    what: 'a scalar',
    address: 'agent.desk',
    path: 'greeting_message',
    edit: (stage) => stage.sim.edit(desk(stage).id, { greeting_message: 'Edited.' }, 'mina'),
    live: greeting,
    beside: ['agents.yaml', 'model: alpha-4.1', 'model: alpha-4o'],
    besideLive: (stage) => record(stage).model,
  },
  {
    what: 'a prompt',
    address: 'agent.desk',
    path: 'system_prompt',
    edit: (stage) => stage.sim.edit(desk(stage).id, { system_prompt: 'By hand.' }),
    live: (stage) => record(stage).system_prompt,
    beside: GREETING,
    besideLive: greeting,
  },
  {
    what: 'a member of an object that is sent whole',
    address: 'agent.desk',
    path: 'voice_settings.speed',
    edit: (stage) =>
      stage.sim.edit(desk(stage).id, {
        voice_settings: { ...record(stage).voice_settings, speed: 2 },
      }),
    live: (stage) => record(stage).voice_settings.speed,
    beside: ['agents.yaml', 'speed: 1.05', 'speed: 1.05, stability: 0.5'],
    besideLive: (stage) => record(stage).voice_settings.stability,
  },
  {
    what: 'a member of an element',
    address: 'agent.desk',
    path: 'extensions.tools[crm_lookup].url',
    edit: (stage) => editTools(stage, (tool) => ({ ...tool, url: 'https://other.example.test/p' })),
    live: (stage) => tools(stage)[0]?.url,
    beside: METHOD,
    besideLive: (stage) => tools(stage)[0]?.method,
  },
  {
    what: 'an element that somebody added',
    address: 'agent.desk',
    path: 'extensions.tools[fax]',
    edit: (stage) => {
      const fax = { type: 'webhook', name: 'fax', condition: 'after_call', method: 'POST' };
      const all = [...tools(stage), { ...fax, url: 'https://fax.example.test' }];
      stage.sim.edit(desk(stage).id, {
        extensions: { ...record(stage).extensions, tools: all as never },
      });
    },
    live: (stage) => tools(stage).map(({ name }) => name),
    beside: METHOD,
    besideLive: (stage) => tools(stage).find(({ name }) => name === 'crm_lookup')?.method,
  },
  {
    what: 'an element that somebody removed',
    address: 'agent.desk',
    path: 'extensions.tools[crm_lookup].name',
    edit: (stage) =>
      stage.sim.edit(desk(stage).id, { extensions: { ...record(stage).extensions, tools: [] } }),
    live: (stage) => tools(stage),
    beside: ['agents.yaml', 'https://mcp.example.test/mcp', 'https://mcp.example.test/mcp2'],
    besideLive: (stage) => record(stage).extensions.mcp_servers[0].mcp_endpoint_url,
  },
  {
    what: 'a header that is masked',
    address: 'agent.desk',
    path: 'extensions.tools[crm_lookup].headers[X-Api-Key].value',
    edit: (stage) =>
      editTools(stage, (tool) => ({ ...tool, headers: [{ key: 'X-Api-Key', value: 'by-hand' }] })),
    live: (stage) => tools(stage)[0]?.headers,
    beside: METHOD,
    besideLive: (stage) => tools(stage)[0]?.method,
  },
  {
    what: 'a facet',
    address: 'agent.desk',
    path: 'payments.max_single_charge_cents',
    prepare: async (stage) => {
      agentOf(stage).payments = { enabled: true, limits: { max_single_charge_cents: 20_000 } };
      const payments = '    payments: { tool_enabled: true, max_single_charge_cents: 20000 }\n';
      await stage.edit('agents.yaml', '  desk:\n', `  desk:\n${payments}`);
      await stage.apply();
    },
    edit: (stage) => {
      agentOf(stage).payments = { enabled: true, limits: { max_single_charge_cents: 9000 } };
    },
    live: (stage) => agentOf(stage).payments.limits.max_single_charge_cents,
    beside: ['agents.yaml', 'cents: 20000', 'cents: 20000, max_attempts_per_call: 4'],
    besideLive: (stage) => agentOf(stage).payments.limits.max_attempts_per_call,
  },
  {
    what: 'a template',
    address: 'email_template.reminder',
    path: 'subject',
    edit: (stage) => {
      first(stage.sim.store.emailTemplates).subject = 'By hand';
    },
    live: (stage) => first(stage.sim.store.emailTemplates).subject,
    beside: ['resources.yaml', '<p>See you', '<p>We see you'],
    besideLive: (stage) => first(stage.sim.store.emailTemplates).body_html,
  },
  {
    what: 'a policy',
    address: 'retry_policy.gentle',
    path: 'rules.no_answer.delay_seconds',
    edit: (stage) => {
      const policy = loose(first(stage.sim.store.retryPolicies));
      policy.rules = { no_answer: { ...policy.rules.no_answer, delay_seconds: 60 } };
    },
    live: (stage) => loose(first(stage.sim.store.retryPolicies)).rules.no_answer.delay_seconds,
    beside: ['resources.yaml', 'max_attempts: 3', 'max_attempts: 4'],
    besideLive: (stage) => loose(first(stage.sim.store.retryPolicies)).rules.no_answer.max_attempts,
  },
];

const POLICIES = ['undo', 'keep', 'refuse'] as const;

/** How a stack is planned and applied. Each gives the plan as it is shown. */
const WAYS = {
  apply: (stage, exit) =>
    stage.run((to) => apply(undefined, { ...flagsOf(stage), autoApprove: true }, to), { exit }),
  'plan file': async (stage, exit) => {
    const file = `${stage.folder}/kept.plan.json`;
    const shown = await stage.run((to) => plan({ ...flagsOf(stage), out: file }, to), { exit });
    const said = await stage.run((to) => apply(file, flagsOf(stage), to), { exit });
    // The apply of a plan file shows them once more.
    const footer = /^Kept: .*(?:\n.+)*/m;
    if (exit === 0) expect(footer.exec(said.out)?.[0]).toBe(footer.exec(shown.out)?.[0]);
    return shown;
  },
  recursive: async (stage, exit) => {
    const tree = { ...flagsOf(stage), recursive: true };
    const shown = await stage.run((to) => runTree('plan', tree, to), { exit });
    await stage.run((to) => runTree('apply', { ...tree, autoApprove: true }, to), { exit });
    return shown;
  },
} satisfies { readonly [way: string]: (stage: Stage, exit: number) => Promise<Said> };

function flagsOf({ folder: dir }: Stage) {
  return { dir, format: 'text' } as const;
}

async function edited(row: Row, policy: (typeof POLICIES)[number]): Promise<Stage> {
  const stage = await openStage();
  onTestFinished(async () => {
    expect(stage.leaks()).toEqual([]);
    await stage.close();
  });
  const settings = await stage.read('callsheet.yaml');
  await stage.write('callsheet.yaml', `${settings}guards: { drift: ${policy} }\n`);
  await stage.apply();
  await row.prepare?.(stage);
  row.edit(stage);
  return stage;
}

/** The plan of a stack in which nothing is to be changed. */
async function settledPlan(stage: Stage, flags: Partial<PlanFlags> = {}): Promise<PlanDocument> {
  const json = { ...flagsOf(stage), ...flags, format: 'json', detailedExitcode: true } as const;
  return JSON.parse((await stage.run((to) => plan(json, to))).out);
}

const listed = (kept: readonly KeptEdits[] = []) =>
  kept.flatMap(({ address, fields }) => fields.map(({ path }) => `${address} ${path}`));

const TABLE = ROWS.flatMap((row) =>
  POLICIES.flatMap((policy) =>
    (['apply', 'plan file', 'recursive'] as const).map((way) => ({
      name: `${row.what}, ${policy}, ${way}`,
      row,
      policy,
      way,
    })),
  ),
);

test('the result of a run has the edits that its plan left', async () => {
  const [row] = ROWS;
  if (row === undefined) throw new Error('there is no row');
  const stage = await edited(row, 'keep');
  await stage.edit(...row.beside);
  const { kept } = await stage.plan({ out: `${stage.folder}/kept.plan.json` } as object);
  const json = { ...flagsOf(stage), format: 'json' } as const;
  const { out } = await stage.run((to) => apply(`${stage.folder}/kept.plan.json`, json, to));
  expect(JSON.parse(out).kept).toEqual(kept);
  expect(kept).toHaveLength(1);
});

describe('an edit beside a change of the files', () => {
  const taken = coveringRows(TABLE, ({ row, policy, way }) => [row.what, policy, way]);
  test.each(taken)('$name', async ({ row, policy, way }) => {
    const stage = await edited(row, policy);
    const [before, besideBefore] = [row.live(stage), row.besideLive(stage)];
    await stage.edit(...row.beside);
    const exit = policy === 'refuse' ? 4 : 0;
    const writes = stage.writes().length;
    const planned = await stage.plan({}, { exit });
    const { out } = await WAYS[way](stage, exit);
    const [live, beside] = [row.live(stage), row.besideLive(stage)];

    if (policy === 'keep') {
      expect(live).toEqual(before);
      expect(beside).not.toEqual(besideBefore);
      expect(listed(planned.kept)).toContain(`${row.address} ${row.path}`);
      expect(out.replace(/\s+/g, ' ')).toMatch(/Kept: \d+ edits? made outside Callsheet/);
      expect(out).toContain(row.path);
      // It stays known as an edit, and is no change.
      for (const refresh of ['fast', 'full'] as const) {
        const again = await settledPlan(stage, { refresh });
        expect(again.changes).toEqual([]);
        expect(listed(again.kept)).toEqual(listed(planned.kept));
      }
      const flags = { ...flagsOf(stage), detailedExitcode: true } as const;
      const seen = await stage.run((to) => drift(flags, to), { exit: 2 });
      expect(seen.out).toContain(row.address);
    } else if (policy === 'undo') {
      expect(live).not.toEqual(before);
      expect(beside).not.toEqual(besideBefore);
      expect(planned.kept).toBeUndefined();
    } else {
      expect(stage.writes().length).toBe(writes);
      const [change] = planned.changes;
      expect(change).toMatchObject({ verdict: 'refused', lifted_by: 'undo_drift' });
      expect(change?.reason).toContain('guards.drift: refuse');
      expect(change?.reason).toContain(`pull ${row.address}`);
      expect(change?.reason).toContain('--undo-drift');
    }
  });
});

describe('what watch heals', () => {
  test.each(POLICIES)('%s', async (policy) => {
    const [row] = ROWS;
    if (row === undefined) return;
    const stage = await edited({ ...row, edit: () => undefined }, policy);
    await stage.edit('agents.yaml', '  desk:\n', '  desk:\n    lifecycle: { heal: true }\n');
    await stage.apply();
    const watching = await startWatching(stage, { flags: { heal: true } });
    row.edit(stage);
    const lines = await watching.pass();
    expect(ofEvent(lines, 'pass_ended')).toMatchObject([{ drifted: policy === 'undo' ? 0 : 1 }]);
    expect(greeting(stage)).toBe(policy === 'undo' ? 'Harbor Dental, how can I help?' : 'Edited.');
    expect(ofEvent(lines, 'heal_left')).toMatchObject(
      policy === 'undo'
        ? []
        : [{ address: 'agent.desk', message: `guards.drift: ${policy} lets no edit be healed` }],
    );
  });
});

describe('what else keeping means', () => {
  const [SCALAR, , NESTED] = ROWS;
  if (SCALAR === undefined || NESTED === undefined) throw new Error('there is no such row');
  const open = (policy: (typeof POLICIES)[number] = 'keep', row = SCALAR) => edited(row, policy);
  const MODEL = ['agents.yaml', 'model: alpha-4.1', 'model: alpha-4o'] as const;
  const kept = async (stage: Stage) => (await stage.plan()).kept;
  const seen = async (stage: Stage, format = 'text') =>
    (await stage.run((to) => plan({ ...flagsOf(stage), format }, to))).out;

  test('the edit is shown in every format, with who made it and what to do', async () => {
    const stage = await open();
    const [edit] = (await kept(stage)) ?? [];
    expect(edit).toMatchObject({
      address: 'agent.desk',
      kind: 'agent',
      fields: [
        {
          path: 'greeting_message',
          before: 'Harbor Dental, how can I help?',
          after: 'Edited.',
          secret: false,
          by: expect.stringMatching(/^last by .*mina.* at \d{4}-.*, history entry \d+$/),
        },
      ],
    });
    for (const format of ['text', 'markdown', ...VIEWS]) {
      const out = (await seen(stage, format)).replace(/\s+/g, ' ');
      for (const part of ['apart from 1 kept edit', 'Edited.', 'mina', 'pull agent.desk'])
        expect(out, format).toContain(part);
    }
  });

  test('who made it is still known after a run that wrote beside it', async () => {
    const stage = await open();
    const before = await kept(stage);
    await stage.edit(...MODEL);
    await stage.apply();
    expect(await kept(stage)).toEqual(before);
    // An apply that finds nothing to do but to take over a value that agrees by now forgets nothing.
    stage.sim.edit(desk(stage).id, { status: 'inactive' }, 'noor');
    await stage.edit('agents.yaml', 'status: active', 'status: inactive');
    await stage.apply();
    expect((await kept(stage))?.[0]?.fields[0]?.by).toMatch(/noor.*, 1 earlier$/);
    // What somebody edits later is named as well, and a second run changes nothing about either.
    stage.sim.edit(desk(stage).id, { system_prompt: 'By hand.' }, 'noor');
    await stage.edit('agents.yaml', 'speed: 1.05', 'speed: 1.1');
    await stage.apply();
    const [edit] = (await kept(stage)) ?? [];
    expect(edit?.fields.map(({ path }) => path)).toEqual(['greeting_message', 'system_prompt']);
    expect(edit?.fields[0]?.by).toMatch(/noor.*, 2 earlier$/);
    const { out } = await stage.run((to) => drift(flagsOf(stage), to));
    for (const name of ['mina', 'noor']) expect(out).toContain(name);
    expect(out).not.toContain('api:');
  });

  test.each([
    ['undo', { keepDrift: true }, 'Edited.'],
    ['refuse', { keepDrift: true }, 'Edited.'],
    ['keep', { undoDrift: true }, 'Harbor Dental, how can I help?'],
    ['refuse', { undoDrift: true }, 'Harbor Dental, how can I help?'],
  ] as const)('%s is lifted for one run by %j', async (policy, flags, live) => {
    const stage = await open(policy);
    await stage.edit(...MODEL);
    const file = `${stage.folder}/one.plan.json`;
    await stage.run((to) => plan({ ...flagsOf(stage), ...flags, out: file }, to));
    await stage.run((to) => apply(file, flagsOf(stage), to));
    expect(record(stage)).toMatchObject({ greeting_message: live, model: 'alpha-4o' });
  });

  test('an edit is not kept and undone at once', async () => {
    const stage = await open();
    const both = { ...flagsOf(stage), keepDrift: true, undoDrift: true };
    const { err } = await stage.run((to) => plan(both, to), { exit: 1 });
    expect(err).toContain('--keep-drift and --undo-drift exclude each other');
  });

  test.each([
    ['production', ['agent.desk']],
    ['staging', undefined],
  ])('%s may keep edits or undo them, whatever the stack does', async (env, expected) => {
    const stage = await openStage();
    onTestFinished(() => stage.close());
    const settings = await stage.read('callsheet.yaml');
    const environments = 'environments: { production: { guards: { drift: keep } }, staging: {} }\n';
    await stage.write('callsheet.yaml', `${settings}guards: { drift: undo }\n${environments}`);
    await stage.apply({ env });
    SCALAR.edit(stage);
    const { kept, changes } = await stage.plan({ env });
    expect(kept?.map(({ address }) => address)).toEqual(expected);
    expect(changes).toHaveLength(expected === undefined ? 1 : 0);
  });

  test('beside a change it is no change for those who read the plan, nor for the rules of the team', async () => {
    const removed = ROWS.find(({ what }) => what === 'an element that somebody removed');
    if (removed === undefined) throw new Error('there is no such row');
    const stage = await open('keep', {
      ...SCALAR,
      edit: (at) => {
        SCALAR.edit(at);
        removed.edit(at);
      },
    });
    await stage.edit(...MODEL);
    const settings = await stage.read('callsheet.yaml');
    const rules = `rules:
  greeting:
    over: change
    require: '!change.fields.exists(f, f.path == "greeting_message") && change.after.greeting_message == change.before.greeting_message'
    message: The greeting changes
`;
    await stage.write('callsheet.yaml', settings + rules);
    const { changes } = await stage.plan();
    const [{ before, after } = {}] = changes as readonly { before?: unknown; after?: unknown }[];
    expect(loose(after).greeting_message).toBe('Edited.');
    expect(loose(after).extensions.tools).toEqual(loose(before).extensions.tools);
    expect([loose(before).model, loose(after).model]).toEqual(['alpha-4.1', 'alpha-4o']);
  });

  test('what both sides changed is a conflict as ever', async () => {
    const stage = await open();
    await stage.edit(...GREETING);
    const planned = await stage.plan({}, { exit: 4 });
    expect(planned.changes).toMatchObject([{ verdict: 'refused', lifted_by: 'accept_conflicts' }]);
    expect(planned.kept).toBeUndefined();
  });

  test('a text that has the edit is written, and one that has not is a conflict', async () => {
    const text = 'Harbor Dental, how can I help?';
    const by = (greeting_message: string) => ({
      ...SCALAR,
      edit: (stage: Stage) => stage.sim.edit(desk(stage).id, { greeting_message }),
    });
    const stage = await open('keep', by(`${text}\nBy hand.`));
    await stage.edit('agents.yaml', text, JSON.stringify(`Ours.\n${text}\nBy hand.`));
    await stage.apply();
    expect(greeting(stage)).toBe(`Ours.\n${text}\nBy hand.`);
    by('Theirs.').edit(stage);
    await stage.edit('agents.yaml', 'Ours.', 'Mine.');
    expect((await stage.plan({}, { exit: 4 })).changes).toMatchObject([{ verdict: 'refused' }]);
  });

  test('a delete goes on, and shows the edit that goes with it', async () => {
    const stage = await open();
    const text = await stage.read('agents.yaml');
    const [from, to] = [text.indexOf('  desk:'), text.indexOf('  recall:')];
    await stage.write('agents.yaml', text.slice(0, from) + text.slice(to));
    const planned = await stage.plan({ allowDelete: true });
    expect(planned.changes).toMatchObject([
      { action: 'delete', verdict: 'ok', fields: [{ path: 'greeting_message', cause: 'drifted' }] },
    ]);
    expect(planned.kept).toBeUndefined();
  });

  test('a rollback of a run leaves an edit alone that the run kept', async () => {
    for (const row of [SCALAR, NESTED]) {
      const stage = await open('keep', row);
      const live = row.live(stage);
      const beside = row.besideLive(stage);
      await stage.edit(...row.beside);
      await stage.apply();
      await stage.rollback();
      expect(row.live(stage)).toEqual(live);
      expect(row.besideLive(stage)).toEqual(beside);
      await stage.edit(row.beside[0], row.beside[2], row.beside[1]);
      const planned = await stage.plan();
      expect(planned.changes).toEqual([]);
      expect(listed(planned.kept)).toEqual([`${row.address} ${row.path}`]);
      expect(planned.kept?.[0]?.fields[0]?.by).not.toContain('api:');
    }
  });

  test('a pull takes it into the files, and it is no edit any more', async () => {
    const stage = await open();
    await stage.run((to) => pull([], flagsOf(stage), to));
    expect(await stage.read('agents.yaml')).toContain('greeting_message: Edited.');
    const planned = await settledPlan(stage);
    expect([planned.changes, planned.kept]).toEqual([[], undefined]);
    await stage.apply();
    expect((await stage.plan()).kept).toBeUndefined();
  });

  test('an edit between plan and apply is stale where the plan writes the resource', async () => {
    const stage = await open();
    await stage.edit(...MODEL);
    const file = `${stage.folder}/stale.plan.json`;
    await stage.run((to) => plan({ ...flagsOf(stage), out: file }, to));
    stage.sim.edit(desk(stage).id, { greeting_message: 'Edited again.' });
    await stage.run((to) => apply(file, flagsOf(stage), to), { exit: 5 });
  });

  test('a rehearsal keeps it as apply would', async () => {
    const stage = await open();
    await stage.edit(...MODEL);
    await stage.run((to) => rehearse(undefined, { ...flagsOf(stage), chaosSeed: '1' }, to));
  });
});
