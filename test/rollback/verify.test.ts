import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { listDifferences, type Seen, type Wanted } from '../../src/rollback/undo.ts';
import { HARBOR, world } from '../world.ts';

const DESK = {
  organization_id: HARBOR,
  name: 'Desk',
  greeting_message: 'Hello',
  description: 'At the door',
};

const wantedAs = (document: JsonObject | null, more: Partial<Wanted> = {}): Wanted => ({
  kind: 'agent',
  id: 'a1',
  document,
  withheld: [],
  changed: undefined,
  ...more,
});

/** What was read after the rollback and, where it wrote to the resource, right before. */
function seen(after: JsonObject | undefined, before?: Seen['before']): Seen {
  const scope = { organization_id: HARBOR };
  const live =
    after && ({ id: 'a1', scope, extent: 'whole', document: after, record: {} } as const);
  return { before, after: live };
}

const differences = (wanted: Wanted, what: Seen) =>
  listDifferences('agent.desk', wanted, what, world().given());
const paths = (wanted: Wanted, what: Seen) => differences(wanted, what).map(({ path }) => path);

describe('a resource', () => {
  test.each<[string, Wanted, JsonObject | undefined, readonly object[]]>([
    ['that is there again differs in nothing', wantedAs(DESK), DESK, []],
    [
      'that is still gone differs',
      wantedAs(DESK),
      undefined,
      [{ address: 'agent.desk', path: null, wanted: 'there', found: 'gone' }],
    ],
    ['that was deleted differs in nothing', wantedAs(null), undefined, []],
    [
      'that is still there differs',
      wantedAs(null),
      DESK,
      [{ address: 'agent.desk', path: null, wanted: 'gone', found: 'there' }],
    ],
    [
      'that the platform cannot delete was named before',
      wantedAs(null, { kind: 'custom_voice' }),
      { name: 'Harbor' },
      [],
    ],
    [
      'that the platform cannot delete is missed all the same',
      wantedAs({ name: 'Harbor' }, { kind: 'custom_voice' }),
      undefined,
      [{ address: 'agent.desk', path: null, wanted: 'there', found: 'gone' }],
    ],
  ])('%s', (_title, wanted, after, expected) => {
    expect(differences(wanted, seen(after))).toEqual(expected);
  });
});

describe('where all of a resource is to be as it was', () => {
  test('each leaf that differs is told with both values, and what is beside them', () => {
    const after = { ...DESK, greeting_message: 'Ahoy', description: null, system_prompt: 'Since' };
    expect(differences(wantedAs(DESK), seen(after))).toEqual([
      { address: 'agent.desk', path: 'greeting_message', wanted: 'Hello', found: 'Ahoy' },
      { address: 'agent.desk', path: 'description', wanted: 'At the door', found: null },
      { address: 'agent.desk', path: 'system_prompt', wanted: null, found: 'Since' },
    ]);
  });

  test('sensitive values are told masked', () => {
    const tools = (value: string) => ({ tools: [{ name: 'crm', headers: [{ key: 'X', value }] }] });
    const wanted = wantedAs({ ...DESK, extensions: tools('canary then') });
    const found = differences(wanted, seen({ ...DESK, extensions: tools('canary now') }));
    expect(found).toMatchObject([{ path: 'extensions.tools[crm].headers[X].value' }]);
    expect(JSON.stringify(found)).not.toContain('canary');
  });
});

describe('nothing is said of a value', () => {
  const HEADER = 'extensions.tools[crm].headers[X].value';
  const withHeader = (header: JsonObject) => ({
    ...DESK,
    greeting_message: 'Ahoy',
    extensions: { tools: [{ name: 'crm', headers: [header] }] },
  });
  const integrations = (provider: JsonObject) => ({
    ...DESK,
    greeting_message: 'Ahoy',
    integrations: { smsProvider: { account_sid: 'AC1', ...provider } },
  });
  test.each<[string, Wanted, JsonObject]>([
    [
      'that no snapshot holds',
      wantedAs({ ...withHeader({ key: 'X' }), greeting_message: 'Hello' }, { withheld: [HEADER] }),
      withHeader({ key: 'X', value: 'canary' }),
    ],
    [
      'that the platform never returns',
      wantedAs({ ...integrations({ auth_token: 'canary' }), greeting_message: 'Hello' }),
      integrations({}),
    ],
    [
      'of a field that nobody knows and the platform does not return',
      wantedAs({ ...DESK, brand_new: 'then' }),
      { ...DESK, greeting_message: 'Ahoy' },
    ],
  ])('%s, but of the others', (_title, wanted, after) => {
    expect(paths(wanted, seen(after))).toEqual(['greeting_message']);
  });
});

describe('where a run is undone', () => {
  const tool = (name: string, url: string) => ({ name, url });
  const withTools = (...tools: readonly JsonObject[]) => ({ ...DESK, extensions: { tools } });
  const CRM = tool('crm', 'https://crm.example.test');

  test.each<[string, readonly string[], JsonObject, JsonObject, readonly string[]]>([
    [
      'a leaf that it changed counts, and no edit elsewhere',
      ['greeting_message'],
      DESK,
      { ...DESK, greeting_message: 'Ahoy', description: 'Edited since' },
      ['greeting_message'],
    ],
    [
      'each of the leaves that it changed counts',
      ['greeting_message', 'description'],
      DESK,
      { ...DESK, greeting_message: 'Ahoy', description: 'Out', system_prompt: 'Edited since' },
      ['greeting_message', 'description'],
    ],
    [
      'a leaf below what it changed counts',
      ['extensions.tools[crm]'],
      withTools(CRM),
      withTools({ ...CRM, url: 'https://other.example.test' }),
      ['extensions.tools[crm].url'],
    ],
    [
      'an element counts of which it changed a leaf',
      ['extensions.tools[new].url'],
      withTools(CRM),
      withTools(CRM, tool('new', 'https://new.example.test')),
      ['extensions.tools[new]'],
    ],
    [
      'nothing counts where it changed nothing',
      [],
      DESK,
      { ...DESK, description: 'Edited since' },
      [],
    ],
  ])('%s', (_title, changed, document, after, expected) => {
    expect(paths(wantedAs(document, { changed }), seen(after))).toEqual(expected);
  });

  test.each<[string, Seen['before'], JsonObject, readonly string[]]>([
    [
      'counts where the rollback moved it to another value',
      DESK,
      { ...DESK, description: 'Long ago' },
      ['description'],
    ],
    [
      'counts where the rollback moved an edit of somebody to yet another value',
      { ...DESK, description: 'Edited since' },
      { ...DESK, description: 'Long ago' },
      ['description'],
    ],
    [
      'counts where the rollback took an edit of somebody away',
      { ...DESK, description: 'Edited since' },
      { ...DESK, description: null },
      ['description'],
    ],
    [
      'counts where the rollback filled it, which was empty',
      { ...DESK, description: null },
      { ...DESK, description: 'Long ago' },
      ['description'],
    ],
    [
      'is of somebody else where it is as it was before the rollback',
      { ...DESK, description: 'Edited since' },
      { ...DESK, description: 'Edited since' },
      [],
    ],
    [
      'is of somebody else where it was empty before the rollback',
      { ...DESK, description: null },
      { ...DESK, description: null },
      [],
    ],
    [
      'is of somebody else where the rollback did not write',
      undefined,
      { ...DESK, description: 'Edited since' },
      [],
    ],
  ])('a leaf that the run left alone %s', (_title, before, after, expected) => {
    const wanted = wantedAs(DESK, { changed: ['greeting_message'] });
    expect(paths(wanted, seen(after, before))).toEqual(expected);
  });
});
