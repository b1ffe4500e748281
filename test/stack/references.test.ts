import { kindNamed } from '../../src/kinds/index.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { agent, BAY, broken, MAIN } from './stack-folder.ts';

/** A kind with a reference that no update can write after the create, which no real one has. */
const policy: Kind = {
  ...kindNamed('retry_policy'),
  schema: {
    $id: 'urn:callsheet:test:policy',
    type: 'object',
    additionalProperties: false,
    properties: {
      name: { type: 'string' },
      next: { type: 'string', 'x-ref': 'retry_policy', 'x-immutable': true },
      after: { type: 'string', 'x-ref': 'retry_policy' },
    },
  },
};

const BASE = '0d0e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';

broken([
  {
    title: 'a reference that leads nowhere, with the nearest',
    files: {
      'p.yaml': 'retry_policies: { gentle: { name: Gentle } }',
      ...agent('default_retry_policy_id: { $ref: retry_policy.gentel }'),
    },
    says: [
      'agents.yaml:4:38 ref/unknown agent.a: default_retry_policy_id refers to retry_policy.gentel, which does not exist',
    ],
    hint: 'Did you mean retry_policy.gentle?',
  },
  {
    title: 'no noise about a resource that may stand in a malformed file',
    files: {
      'p.yaml': 'retry_policies:\n  gentle: { name: Gentle\n  firm: {}',
      ...agent(
        'default_retry_policy_id: { $ref: retry_policy.gentle }',
        'voice_settings: { voice_id: { $ref: custom_voice.harbor } }',
      ),
    },
    says: [
      'agents.yaml:5:41 ref/unknown agent.a: voice_settings.voice_id refers to custom_voice.harbor, which does not exist',
      'p.yaml:3:3 yaml/syntax a { or [ is not closed, or its content is not indented',
    ],
  },
  {
    title: 'no noise about a resource whose body cannot be used',
    files: {
      'p.yaml': 'retry_policies: { gentle: [] }',
      ...agent('default_retry_policy_id: { $ref: retry_policy.gentle }'),
    },
    says: ['p.yaml:1:27 schema/type retry_policy.gentle must be a map of fields, not a list'],
  },
  {
    title: 'a circle of references that cannot be written, once',
    files: {
      'p.yaml': `retry_policies:
  a: { name: A, next: { $ref: retry_policy.b } }
  b: { name: B, next: { $ref: retry_policy.c } }
  c: { name: C, next: { $ref: retry_policy.b } }
  d: { name: D, next: { $ref: retry_policy.d } }
  e: { name: E, next: { $ref: retry_policy.f } }
  f: { name: F, after: { $ref: retry_policy.e } }
`,
    },
    options: { kinds: [policy] },
    says: [
      'p.yaml:4:31 ref/cycle retry_policy.c: next closes a cycle of references: retry_policy.b → retry_policy.c → retry_policy.b',
      'p.yaml:5:31 ref/cycle retry_policy.d: next closes a cycle of references: retry_policy.d → retry_policy.d',
    ],
  },
  {
    title: 'one address twice, in two files',
    files: { 'x.yaml': 'agents: { a: { name: B } }', ...agent('model: m') },
    says: ['x.yaml:1:11 address/duplicate agent.a is defined twice, first at agents.yaml:2:3'],
  },
  {
    title: 'one name twice in an organization',
    files: {
      'x.yaml': `agents:
  b: { name: A, organization: ${BAY} }
  c: { name: A, organization: bay }
  d: { name: A }
retry_policies: { p: { name: P }, q: { name: P } }
`,
      ...agent('model: m'),
    },
    says: [
      'x.yaml:3:8 name/duplicate agent.c has the same organization and name as agent.b at x.yaml:2:8',
      'x.yaml:4:8 name/duplicate agent.d has the same organization and name as agent.a at agents.yaml:3:5',
      'x.yaml:5:40 name/duplicate retry_policy.q has the same name as retry_policy.p at x.yaml:5:24',
    ],
  },
  {
    title: 'one page twice in a knowledge base that two files fill',
    files: {
      'a.yaml':
        'knowledge_bases: { kb: { id: 0d0e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11, sources: { s: { url: https://x.test } } } }',
      'b.yaml':
        'knowledge_bases: { kb: { id: 0d0e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11, sources: { t: { url: https://x.test } } } }',
    },
    says: [
      'b.yaml:1:84 name/duplicate knowledge_source.kb.t has the same knowledge_base_id and url as knowledge_source.kb.s at a.yaml:1:84',
    ],
  },
  {
    title: 'one document twice in a knowledge base that two files fill, under two names',
    files: {
      'docs/rates.csv': 'crown,900\n',
      'docs/fees.csv': 'crown,900\n',
      'a.yaml': `knowledge_bases: { kb: { id: ${BASE}, sources: { s: { file: docs/rates.csv } } } }`,
      'b.yaml': `knowledge_bases: { kb: { id: ${BASE}, sources: { t: { file: docs/fees.csv } } } }`,
    },
    says: [
      'b.yaml:1:84 content/duplicate knowledge_source.kb.t: file has the content of knowledge_source.kb.s at a.yaml:1:84',
    ],
    hint: 'The platform keeps a content once. Remove one of them; its address under forget: keeps the live document',
  },
  {
    title: 'one document for two rows, whatever ids they adopt',
    files: {
      'docs/rates.csv': 'crown,900\n',
      'docs/fees.csv': 'crown,900\n',
      'a.yaml': `knowledge_bases:
  kb:
    id: ${BASE}
    sources:
      s:
        for_each: [{ slug: rates, id: live-1 }, { slug: fees, id: live-2 }]
        key: \${each.slug}
        file: docs/\${each.slug}.csv
        lifecycle: { adopt: '\${each.id}' }
`,
    },
    says: [
      'a.yaml:8:9 content/duplicate knowledge_source.kb.s["fees"]: file has the content of knowledge_source.kb.s["rates"] at a.yaml:8:9',
    ],
  },
  {
    title: 'one document in two knowledge bases, and one clip of two voices',
    files: {
      'docs/rates.csv': 'crown,900\n',
      'a.yaml': `knowledge_bases:
  one: { id: ${BASE}, sources: { s: { file: docs/rates.csv } } }
  two: { id: ${BASE.replace('0d0e', '1d0e')}, sources: { s: { file: docs/rates.csv } } }
`,
    },
    says: [],
  },
  {
    title:
      'shared names are fine where each says which live resource is meant, but not the same one',
    files: {
      'x.yaml': `agents:
  b: { name: A, lifecycle: { adopt: live-1 } }
  c: { name: A, lifecycle: { adopt: live-2 } }
  d: { name: D, lifecycle: { adopt: live-2 } }
`,
    },
    says: ['x.yaml:4:3 name/duplicate agent.d adopts the same id as agent.c at x.yaml:3:3'],
  },
  {
    title: 'organizations that are unknown or missing',
    files: {
      'callsheet.yaml': MAIN.replace('organization: harbor', ''),
      'x.yaml': `agents:
  b: { name: A, organization: habor }
  c: { name: A }
  d: { name: A, organization: [harbor] }
`,
    },
    says: [
      'x.yaml:2:31 organization/unknown agent.b: organization is "habor", which is not an organization of the stack',
      'x.yaml:3:3 organization/missing agent.c belongs to no organization',
      'x.yaml:4:31 schema/type agent.d: organization must be text, not a list',
    ],
    hint: 'Did you mean "harbor"?',
  },
]);
