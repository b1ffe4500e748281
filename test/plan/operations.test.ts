import { expect, test } from 'vitest';
import type { Change, PlannedOperation } from '../../src/core/plan-document.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { assumptionsAlong, carriedPaths, listWrites } from '../../src/plan/steps.ts';

const AGENT = kindNamed('agent');
const SOURCE = kindNamed('knowledge_source');

const taking = (...operations: readonly PlannedOperation[]) =>
  ({ operations }) as unknown as Change;

const LIVE = {
  name: 'Desk',
  status: 'active',
  voice_settings: { speed: 1, language: 'en' },
  config: { user_timezone: 'UTC' },
  sip: { registration_enabled: true },
};

const FIELD = { before: null, after: null, secret: false, cause: 'changed' } as const;

test.each<readonly [string, readonly PlannedOperation[], readonly string[]]>([
  [
    'an update',
    [{ step: 'update', fields: ['voice_settings', 'name', 'description'] }],
    ['name', 'voice_settings.speed', 'voice_settings.language'],
  ],
  ['what is written again', [{ step: 'again', fields: ['status'] }], ['status']],
  [
    'an update after a revert',
    [
      { step: 'revert', fields: ['name'], version: 41 },
      { step: 'update', fields: ['config'] },
    ],
    ['config.user_timezone'],
  ],
  ['a revert', [{ step: 'revert', fields: ['name'], version: 41 }], []],
  ['a facet', [{ step: 'facet', fields: ['sip'] }], []],
  ['a create', [{ step: 'create', fields: ['name'] }], []],
])('what is live goes back with %s as far as the same fields hold it', (_, operations, paths) => {
  const change = { ...taking(...operations), fields: [] };
  expect(carriedPaths(change, AGENT, { document: {}, live: LIVE })).toEqual(paths);
});

test('what follows what is written does not go back', () => {
  const change = (...paths: readonly string[]) => ({
    ...taking({ step: 'update', fields: ['voice_settings'] }),
    fields: paths.map((path) => ({ ...FIELD, path })),
  });
  const sides = { document: {}, live: LIVE };
  const language = 'voice_settings.language';
  expect(carriedPaths(change('voice_settings.speed'), AGENT, sides)).toContain(language);
  expect(carriedPaths(change('voice_settings.voice_id'), AGENT, sides)).not.toContain(language);
});

test.each<readonly [string, typeof AGENT, readonly PlannedOperation[], readonly string[]]>([
  [
    'the operations of each step',
    AGENT,
    [
      { step: 'revert', fields: ['name'], version: 41 },
      { step: 'update', fields: ['status'] },
    ],
    [...AGENT.operations.revert, ...AGENT.operations.update],
  ],
  [
    'those of the facets that it writes',
    AGENT,
    [{ step: 'facet', fields: ['sip'] }],
    ['setSipRegistration'],
  ],
  [
    'those that make it, where it is written again, and those that its fields take',
    SOURCE,
    [{ step: 'again', fields: ['file', 'name'] }],
    [...SOURCE.operations.create, 'enqueueKnowledgeSource'],
  ],
  ['none, where it takes no steps', AGENT, [], []],
])('a change calls %s', (_, kind, operations, called) => {
  expect(listWrites(taking(...operations), kind)).toEqual(called);
});

test.each<readonly [string, readonly string[]]>([
  ['extensions.mcp_servers[Calendar].transport_type', ['mcp.write-shape']],
  ['extensions.mcp_servers', ['mcp.write-shape']],
  ['extensions.tools[crm].url', []],
  ['name', []],
])('writing %s rests on %j', (path, assumptions) => {
  expect(assumptionsAlong(AGENT.schema, path)).toEqual(assumptions);
});
