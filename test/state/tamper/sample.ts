import schema from '../../../schemas/state.schema.json' with { type: 'json' };
import type { JournalEntry, RunBegan } from '../../../src/state/journal.ts';
import { isRecord, type ResourceState, type State } from '../../../src/state/model.ts';
import { APPLIED, began, keptOf, resource, stateWith } from '../sample.ts';

/** One state and one journal that have every member of their schemas. `uncovered` names those that they lack. */

const AT = '2026-03-02T08:30:00.000Z';
const OWNER = { stack: './a', environment: 'production' };

const FULL: ResourceState = resource('a1', {
  leaves: {
    name: { value: 'Desk a1' },
    system_prompt: {
      digest: `sha256:${'0a'.repeat(32)}`,
      stored: `sha256:${'0b'.repeat(32)}`,
    },
    'extensions.tools[crm].headers[X-Key].value': {
      fingerprint: 'hmac:00000000:ff',
      source: `sha256:${'0e'.repeat(32)}`,
      in_clear: 'hmac:00000000:ee',
    },
    'integrations.smsProvider.auth_token': { unknown: true },
    'integrations.smsProvider.account_sid': { unsettled: true },
    file: { digest: `sha256:${'0f'.repeat(32)}`, assumed: true },
  },
  pin: { digest: 'sha256:1', updated_at: AT, history_id: 7, certain: true },
  restored_by: 'r1',
  restored_paths: ['name'],
  created_at: AT,
  kept_since: { updated_at: AT, history_id: 6 },
  asked_at: AT,
  unfinished: ['name'],
});

const ENTRIES = {
  careful: keptOf({ why: 'held', runs: ['r1'], doubt: 'nobody knows', data: { left: ['a'] } }),
};

const HOLDS = {
  [`sha256:${'0c'.repeat(32)}`]: {
    address: 'agent.desk',
    id: 'a1',
    path: 'name',
    value: 'sha256:5',
    undid: 'r1',
    by: 'r2',
    at: AT,
    user: 'sam',
  },
};

const DELETED = {
  'agent.gone': {
    run: 'r0',
    at: AT,
    kind: 'agent',
    scope: { organization_id: 'harbor' },
    name: 'Gone',
  },
  'agent.taken': {
    run: null,
    commit: '4f'.repeat(20),
    at: AT,
    kind: 'agent',
    scope: { organization_id: 'harbor' },
    name: 'Taken',
  },
};

/** What a first run left. */
export const STATE: State = stateWith(
  { 'agent.desk': FULL, 'agent.line': resource('a2') },
  {
    account_id: 'account-1',
    stretched: 'aes-256-gcm:AAAA',
    owner: OWNER,
    applied: APPLIED,
    deleted: DELETED,
    let_go: { 'knowledge_source s1': { file: `sha256:${'0e'.repeat(32)}` } },
    holds: HOLDS,
    kept: { rollout: ENTRIES },
    last_run: 'r1',
  },
);

export function beganFull(run: string, serial: number): RunBegan {
  return {
    ...began(run, serial),
    undoes: 'r0',
    snapshot: { made_at: AT, sha256: '0d'.repeat(32) },
    actor: {
      user: 'sam',
      host: 'desk',
      pid: 41,
      commit: '0a'.repeat(20),
      pipeline: 'https://ci.example.test/1',
      pull_request: '#4',
      approved_by: ['kim'],
    },
    owner: OWNER,
    applied: APPLIED,
    holds: HOLDS,
    kept: { feature: 'rollout', part: 'careful, step 1 of 3', entries: ENTRIES },
    on_failure: 'rollback',
    moves: {
      addresses: ['agent.desk'],
      to: { location: 'other/state.json', lineage: 'l2' },
      from: { location: 'former/state.json', lineage: 'l3' },
    },
    made_by: '0.1.0',
    prunes: { keep: '90d', runs: ['r00'] },
    brought_by: 'r0',
    allowed: [{ flag: '--override-freeze', by: 'kim' }],
    overrides: [{ guard: 'freeze', message: 'frozen', reason: 'urgent' }],
  };
}

const INTENT = {
  type: 'intent',
  at: AT,
  address: 'agent.desk',
  step: 'update',
  operation: 'updateAgent',
  id: 'a1',
  fields: ['name'],
} as const;

/** The journal of a whole run. */
export function journalFull(run: string, serial: number): readonly JournalEntry[] {
  return [
    beganFull(run, serial),
    {
      type: 'snapshot',
      address: 'agent.desk',
      kind: 'agent',
      id: 'a1',
      document: { name: 'Desk a1', organization_id: 'harbor' },
      pin: FULL.pin,
      resource: FULL,
      withheld: ['extensions.tools[crm].headers[X-Key].value'],
      sealed: { 'extensions.tools[crm].headers[X-Key].value': 'aes-256-gcm:00000000:AAAA' },
      intended: {
        key: 'sha256:4',
        scope: FULL.scope,
        name: 'Desk a1',
        leaves: FULL.leaves,
        protect: false,
        unreadable: ['name'],
      },
    },
    { ...INTENT, seq: 1 },
    { type: 'outcome', seq: 1, at: AT, ok: true, id: 'a1', error: null },
    { ...INTENT, seq: 2 },
    { type: 'outcome', seq: 2, at: AT, ok: false, id: null, error: 'no', refused: true },
    { type: 'resource', address: 'agent.desk', resource: FULL },
    {
      type: 'ended',
      at: AT,
      status: 'done',
      verified: true,
      ledger: [
        {
          address: 'agent.desk',
          name: 'Desk a1',
          action: 'update',
          status: 'done',
          verdict: 'held',
          lifted_by: 'allow_delete',
          id: 'a1',
          message: 'done',
          fields: ['name'],
          shared: [{ group: 0, path: 'name', source: 'agents.yaml:4' }],
          history: { before: 7, after: 8 },
          former_id: 'a0',
          interleaved: [
            { entry: 8, action: 'update', actor: 'kim', source: 'api', at: AT, order: 'before' },
          ],
          stored: [{ path: 'name', sent: ' a', returned: 'a', secret: false }],
          undid: { fields: ['name'], edits: [{ entry: 8, actor: 'kim', source: 'api', at: AT }] },
          leaves: FULL.leaves,
        },
      ],
      differs: [{ address: 'agent.desk', path: 'name', wanted: 'a', found: 'b' }],
      left: [{ address: 'agent.desk', path: 'name', why: 'is secret', advice: 'apply' }],
    },
  ];
}

type Schema = { readonly [keyword: string]: unknown };

function resolve(at: Schema): { readonly schema: Schema; readonly name: string | undefined } {
  const { $ref: reference } = at;
  if (typeof reference !== 'string') return { schema: at, name: undefined };
  const name = reference.replace('#/$defs/', '');
  const found = Object.entries(schema.$defs).find(([key]) => key === name)?.[1];
  if (found === undefined) throw new Error(`the schema has no ${reference}`);
  return { schema: found, name };
}

function listSchemas(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? value.filter(isRecord) : isRecord(value) ? [value] : [];
}

/** Names of the members that a schema has, and those below it. */
function membersOf(given: Schema, at: string, seen: Set<string>, into: Set<string>): void {
  const { schema: own, name } = resolve(given);
  const place = name ?? at;
  if (name !== undefined && seen.has(name)) return;
  if (name !== undefined) seen.add(name);
  if (isRecord(own.properties))
    for (const [member, below] of Object.entries(own.properties)) {
      into.add(`${place}.${member}`);
      if (isRecord(below)) membersOf(below, `${place}.${member}`, seen, into);
    }
  for (const keyword of ['oneOf', 'anyOf', 'items', 'additionalProperties'])
    for (const below of listSchemas(own[keyword])) membersOf(below, `${place}.*`, seen, into);
}

/** The same of those that a value has. */
function membersIn(value: unknown, given: Schema, at: string, into: Set<string>): void {
  const { schema: own, name } = resolve(given);
  const place = name ?? at;
  for (const keyword of ['oneOf', 'anyOf'])
    for (const option of listSchemas(own[keyword])) {
      const { type } = isRecord(resolve(option).schema.properties)
        ? Object(resolve(option).schema.properties)
        : {};
      const isOther = isRecord(type) && 'const' in type && type.const !== Object(value).type;
      if (!isOther) membersIn(value, option, `${place}.*`, into);
    }
  if (Array.isArray(value)) {
    for (const one of value)
      for (const below of listSchemas(own.items)) membersIn(one, below, `${place}.*`, into);
    return;
  }
  if (!isRecord(value)) return;
  const known = isRecord(own.properties) ? own.properties : {};
  for (const [member, below] of Object.entries(value)) {
    const schemaOf = known[member];
    if (isRecord(schemaOf)) {
      into.add(`${place}.${member}`);
      membersIn(below, schemaOf, `${place}.${member}`, into);
      continue;
    }
    for (const other of listSchemas(own.additionalProperties))
      membersIn(below, other, `${place}.*`, into);
  }
}

/** Members of the schema that neither the state nor the entries have. */
export function uncovered(state: unknown, entries: readonly unknown[]): readonly string[] {
  const [all, there] = [new Set<string>(), new Set<string>()];
  const seen = new Set<string>();
  membersOf(schema, 'state', seen, all);
  membersOf({ $ref: '#/$defs/entry' }, 'entry', seen, all);
  membersIn(state, schema, 'state', there);
  for (const entry of entries) membersIn(entry, { $ref: '#/$defs/entry' }, 'entry', there);
  return [...all].filter((member) => !there.has(member)).sort();
}
