import { describe, expect, test } from 'vitest';
import type { FieldCause, PlanDocument } from '../../src/core/plan-document.ts';
import type { Json } from '../../src/core/value.ts';
import type { LeafChange } from '../../src/diff/compare.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import type { Identity } from '../../src/plan/identify.ts';
import {
  asOwn,
  foundBy,
  missingReason,
  twinsReason,
  updateReason,
  withAuthor,
} from '../../src/plan/messages.ts';
import { world } from '../world.ts';

const leaf = (cause: FieldCause): LeafChange => ({
  path: ['name'],
  text: 'name',
  before: 'Desk',
  after: 'Front',
  cause,
  sensitive: false,
  unreadable: false,
  schema: {},
});

const CONFIGURED = 'the configuration changed';
const OUTSIDE = 'changed outside Callsheet';
const BOTH = 'the configuration and the platform both changed since the last apply';
const SECRET = 'secret changed since the last write';
const UNWRITTEN = 'a secret was not written to this resource yet';
const RESENT = 'secrets are sent again (--resend-secrets)';

describe('an update is explained', () => {
  type Given = {
    readonly by?: Identity['by'];
    readonly purpose?: PlanDocument['purpose'];
    readonly isToSnapshot?: boolean;
  };
  const rollback = { purpose: 'rollback' } as const;
  const snapshot = { ...rollback, isToSnapshot: true };
  test.each<[string, readonly FieldCause[], Given]>([
    [CONFIGURED, ['changed'], {}],
    [CONFIGURED, ['cleared'], {}],
    [CONFIGURED, ['changed', 'cleared'], {}],
    [OUTSIDE, ['drifted'], {}],
    [`${OUTSIDE}; ${CONFIGURED}`, ['changed', 'drifted'], {}],
    [BOTH, ['conflict'], {}],
    [BOTH, ['conflict', 'changed', 'drifted'], {}],
    [SECRET, ['secret_changed'], {}],
    [UNWRITTEN, ['secret_unwritten'], {}],
    [RESENT, ['secret_resent'], {}],
    [`${CONFIGURED}; ${SECRET}; ${RESENT}`, ['secret_resent', 'secret_changed', 'changed'], {}],
    [`${BOTH}; ${SECRET}`, ['secret_changed', 'conflict'], {}],
    ['found by its name and differs', ['changed'], { by: 'natural_key' }],
    ['found by lifecycle.adopt and differs', ['changed'], { by: 'adopt' }],
    ['the run changed it', ['changed'], rollback],
    ['the run changed it', ['cleared'], { ...rollback, by: 'natural_key' }],
    ['the run changed it, and it was changed again since', ['conflict'], rollback],
    ['changed since the snapshot', ['changed'], snapshot],
    [
      'changed since the snapshot, and again outside Callsheet since the last run',
      ['conflict'],
      snapshot,
    ],
  ])('%s: %j %j', (says, causes, { by = 'state', purpose = 'apply', ...rest }) => {
    expect(updateReason(by, causes.map(leaf), purpose, rest.isToSnapshot)).toBe(says);
  });
});

test.each([
  ['adopt', 'apply', 'found by lifecycle.adopt'],
  // Nobody wrote lifecycle.adopt: the snapshot and the record of a run have the id.
  ['adopt', 'restore', 'found by its id'],
  ['adopt', 'rollback', 'found by its id'],
  ['natural_key', 'apply', 'found by its name'],
  ['natural_key', 'restore', 'found by its name'],
] as const)('what was found by %s for %s is %s', (by, purpose, says) => {
  expect(foundBy(by, purpose)).toBe(says);
});

test('what is gone is made again by apply alone', () => {
  const gone = 'it is no longer on the platform (id a1)';
  expect(missingReason('a1', 'drift')).toBe(gone);
  expect(missingReason('a1', 'apply')).toBe(
    `${gone}; apply creates it again. To keep it deleted, remove its block`,
  );
});

describe('a reason speaks of our own run', () => {
  const own = 'changed by run r1, which died';
  test.each([
    [OUTSIDE, own],
    [`${OUTSIDE}; ${SECRET}`, `${own}; ${SECRET}`],
    [BOTH, `${own}, and the configuration changed`],
    [CONFIGURED, CONFIGURED],
  ])('%s', (reason, says) => {
    expect(asOwn(reason, own)).toBe(says);
  });
});

describe('a reason names who changed it', () => {
  test.each([
    [OUTSIDE, `${OUTSIDE} (kim)`],
    [`${OUTSIDE}; ${CONFIGURED}`, `${OUTSIDE} (kim); ${CONFIGURED}`],
    [BOTH, `${BOTH} (kim)`],
    [`${BOTH}; ${SECRET}`, `${BOTH} (kim); ${SECRET}`],
  ])('%s', (reason, says) => {
    expect(withAuthor(reason, 'kim')).toBe(says);
  });
});

describe('elements that share a name', () => {
  const { schema } = kindNamed('agent');
  const reason = (list: string, key: string, name: string, elements: readonly Json[]) =>
    twinsReason(schema, { list: ['extensions', list], key, name, elements });

  test('are counted and named by their number, id and address, with what to do', () => {
    const says = reason('mcp_servers', 'connection_name', 'Calendar', [
      { connection_name: 'Calendar', id: 'm1', mcp_endpoint_url: 'https://one.test/mcp' },
      { connection_name: 'Calendar', id: 'm2', mcp_endpoint_url: 'https://two.test/mcp' },
    ]);
    expect(says).toBe(
      'the platform has 2 entries of extensions.mcp_servers whose connection_name is "Calendar" ' +
        '(extensions.mcp_servers[Calendar] id m1 https://one.test/mcp; ' +
        'extensions.mcp_servers[Calendar#2] id m2 https://two.test/mcp), ' +
        'so Callsheet cannot tell which one to write: rename or delete one of them in the dashboard and plan again, ' +
        'or exclude the list with lifecycle.ignore: [extensions.mcp_servers]',
    );
  });

  test('are named without what the platform does not tell of them', () => {
    const says = reason('tools', 'name', 'crm', [
      { name: 'crm', url: 'https://one.test' },
      { name: 'crm', id: 'x2' },
      { name: 'crm', id: 3, url: null },
      'crm',
      { name: 'crm', id: 'x5', url: 'https://five.test' },
    ]);
    expect(says).toContain('has 5 entries of extensions.tools whose name is "crm"');
    expect(says).toContain(
      '(extensions.tools[crm] https://one.test; extensions.tools[crm#2] id x2; extensions.tools[crm#3]; ' +
        'extensions.tools[crm#4]; extensions.tools[crm#5] id x5 https://five.test)',
    );
  });

  test('are named without an address where their list has none', () => {
    const says = twinsReason(schema, {
      list: ['elsewhere'],
      key: 'name',
      name: 'one',
      elements: [{ name: 'one', id: 'e1', url: 'https://one.test' }, { name: 'one' }],
    });
    expect(says).toContain('(elsewhere[one] id e1; elsewhere[one#2])');
  });

  test('are named without the credentials in their address', () => {
    const says = reason('mcp_servers', 'connection_name', 'Calendar', [
      { connection_name: 'Calendar', mcp_endpoint_url: 'https://one.test/mcp?token=canary-1' },
      { connection_name: 'Calendar', mcp_endpoint_url: 'https://sam:canary-2@two.test/mcp' },
    ]);
    expect(says).toContain('https://one.test/mcp');
    expect(says).toContain('two.test/mcp');
    expect(says).not.toContain('canary');
  });

  test('are named by the host of an address that is itself a secret', () => {
    const hook = { 'x-destination': 'url', properties: { name: {}, url: { 'x-secret': true } } };
    const root = { properties: { hooks: { type: 'array', 'x-identity': 'name', items: hook } } };
    const one = { name: 'crm', url: 'https://one.test/canary' };
    const says = twinsReason(root, {
      list: ['hooks'],
      key: 'name',
      name: 'crm',
      elements: [one, one],
    });
    const shown = 'https://one.test/(secret)';
    expect(says).toContain(`(hooks[crm] ${shown}; hooks[crm#2] ${shown})`);
  });

  test('are refused by the plan that would write one of them', async () => {
    const tool = { type: 'webhook', name: 'crm', method: 'GET', url: 'https://one.test' };
    const tools = (...all: readonly (typeof tool)[]) => ({ extensions: { tools: all } });
    const changed = { ...tool, url: 'https://three.test' };
    const changes = await world()
      .desired({ 'agent.desk': { name: 'Desk', ...tools(changed) } })
      .live({ agent: [{ id: 'a1', name: 'Desk', ...tools(tool, { ...tool, method: 'POST' }) }] })
      .applied({ 'agent.desk': { id: 'a1', name: 'Desk', ...tools(tool) } })
      .changes();
    const change = changes.get('agent.desk');
    expect(change).toMatchObject({ action: 'update', verdict: 'refused', operations: [] });
    expect(change?.reason).toContain('has 2 entries of extensions.tools whose name is "crm"');
  });
});
