import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agent, broken, type Files, load, MAIN, said } from '../../stack/stack-folder.ts';

const main = (rules: string) => ({ 'callsheet.yaml': `${MAIN}rules:\n  r: ${rules}\n` });
const rule = (require: string, rest = '') =>
  main(`{ require: '${require.replaceAll("'", "''")}', message: Must be, ${rest} }`);
const invalid = (at: string, message: string) => `callsheet.yaml:${at} rules/invalid ${message}`;

describe('a broken rule is told at its place', () => {
  broken([
    {
      title: 'that is no CEL',
      files: rule('resource.name ='),
      says: [invalid('5:32', 'rules.r: require cannot be read as CEL: unexpected character: =')],
    },
    {
      title: 'that ends too early',
      files: rule('has('),
      says: [invalid('5:22', 'rules.r: require cannot be read as CEL: unexpected token: EOF')],
    },
    {
      title: 'that asks for a variable that there is not',
      files: rule('change.action == 1'),
      says: [invalid('5:18', 'rules.r: require cannot be read as CEL: unknown variable: change')],
      hint: 'sees resource, address, kind, name, organization, resources',
    },
    {
      title: 'that compares what cannot be compared',
      files: rule('address > 1'),
      says: [
        invalid('5:18', 'rules.r: require cannot be read as CEL: no such overload: string > int'),
      ],
    },
    {
      title: 'that gives no truth',
      files: rule('size(address)'),
      says: [invalid('5:17', 'rules.r: require has the type int, and must be true or false')],
    },
    {
      title: 'on the third line of a block',
      files: main(`{ message: M, require: true }`.replace('true', '"true"')),
      says: [],
    },
    {
      title: 'in a block of lines',
      files: {
        'callsheet.yaml': `${MAIN}rules:\n  r:\n    message: M\n    require: |\n      true &&\n        adress == "x"\n`,
      },
      says: [invalid('9:9', 'rules.r: require cannot be read as CEL: unknown variable: adress')],
    },
    {
      title: 'that asks for a field that no agent has',
      files: rule('resource.agent_typ == "x"', 'on: agent'),
      says: [invalid('5:27', 'rules.r: require asks for resource.agent_typ, which does not exist')],
      hint: 'Did you mean agent_type?',
    },
    {
      title: 'that asks for a field that only the platform knows',
      files: rule('has(resource.created_at)', 'on: agent'),
      says: [
        invalid('5:31', 'rules.r: require asks for resource.created_at, which does not exist'),
      ],
    },
    {
      title: 'that asks for what is not there beside a macro of the same name',
      files: rule('plan.changes.all(plan, plan.kind != "x") && plan.chnges == []', 'over: plan'),
      says: [invalid('5:67', 'rules.r: require asks for plan.chnges, which does not exist')],
      hint: 'Did you mean changes?',
    },
    {
      title: 'that asks for what is not there in the list of a macro',
      files: rule('plan.chnges.all(plan, plan.kind != "x")', 'over: plan'),
      says: [invalid('5:23', 'rules.r: require asks for plan.chnges, which does not exist')],
    },
    ...[
      'plan.changes.all(resource, resource.whatever != "x")',
      'plan.changes.exists(change, change.whatever == "x")',
      'size(plan.changes.map(plan, plan.whatever)) == 0',
      'plan.changes.all(a, plan.changes.exists(plan, plan.whatever == a.x))',
      'cel.bind(plan, plan.changes, plan.whatever == 1)',
      '[{"x": 1}].all(constructor, constructor.x == 1)',
    ].map((text) => ({
      title: `and a name that a macro binds is no variable: ${text}`,
      files: rule(text, 'over: plan'),
      says: [],
    })),
    {
      title: 'that asks a plan for what it has not',
      files: rule('change.acton == "x"', 'over: change'),
      says: [invalid('5:25', 'rules.r: require asks for change.acton, which does not exist')],
      hint: 'Did you mean action?',
    },
    {
      title: 'whose pattern is none',
      files: rule('address.matches("(")'),
      says: [
        invalid(
          '5:34',
          'rules.r: require has an invalid pattern: Invalid regular expression: /(/: Unterminated group',
        ),
      ],
    },
    {
      title: 'that is nested too deeply',
      files: rule(`${'('.repeat(100)}true${')'.repeat(100)}`),
      says: [invalid('5:78', 'rules.r: require cannot be read as CEL: exceeded maxDepth (60)')],
    },
    {
      title: 'that is too long',
      files: rule(`address != "${'x'.repeat(5000)}"`),
      says: [invalid('5:17', 'rules.r: require has more than 4000 characters')],
    },
    {
      title: 'whose when is broken too',
      files: main('{ when: "1", require: "2", message: M }'),
      says: [
        invalid('5:14', 'rules.r: when has the type int, and must be true or false'),
        invalid('5:28', 'rules.r: require has the type int, and must be true or false'),
      ],
    },
    {
      title: 'without a condition',
      files: main('{ message: M }'),
      says: [
        'callsheet.yaml:5:3 schema/required callsheet.yaml: rules.r needs one of require, schema',
      ],
    },
    {
      title: 'without a message',
      files: main('{ require: "true" }'),
      says: ['callsheet.yaml:5:3 schema/required callsheet.yaml: rules.r needs message'],
    },
    {
      title: 'with members that are none',
      files: main('{ require: "true", message: M, on: agnt, severity: fatal, mesage: x }'),
      says: [
        invalid('5:41', 'callsheet.yaml: rules.r.on names "agnt", which is not a kind'),
        'callsheet.yaml:5:57 schema/enum callsheet.yaml: rules.r.severity cannot be "fatal"',
        'callsheet.yaml:5:64 schema/unknown-key callsheet.yaml: rules.r has no field "mesage"',
      ],
    },
    {
      title: 'whose list of kinds has one that is none',
      files: main('{ require: "true", message: M, on: [agnt] }'),
      says: ['callsheet.yaml:5:42 schema/enum callsheet.yaml: rules.r.on[0] cannot be "agnt"'],
    },
    {
      title: 'with a schema over changes',
      files: main('{ over: change, schema: {}, message: M }'),
      says: [invalid('5:30', 'callsheet.yaml: rules.r.schema has no effect in a rule over change')],
    },
    {
      title: 'with a schema that is none',
      files: main('{ schema: { type: 3 }, message: M }'),
      says: [
        invalid(
          '5:16',
          'rules.r: schema cannot be read as JSON Schema: schema is invalid: data/type must be equal to one of the allowed values',
        ),
      ],
    },
    ...[
      '{ $ref: "#" }',
      '{ allOf: [{ $ref: "#" }] }',
      '{ $ref: "#/$defs/a", $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { $ref: "#/$defs/a" } } }',
    ].map((schema) => ({
      title: `with a schema that leads back to itself: ${schema}`,
      files: main(`{ schema: ${schema}, message: M }`),
      says: [invalid('5:16', 'rules.r: schema refers to itself without an end')],
    })),
    {
      title: 'with a schema that leads back to itself for a text alone',
      files: main(
        '{ schema: { properties: { name: { $ref: "#/$defs/a" } }, $defs: { a: { $ref: "#/$defs/a" } } }, message: M }',
      ),
      says: [invalid('5:16', 'rules.r: schema refers to itself without an end')],
    },
    {
      title: 'with a schema of another draft',
      files: main('{ schema: { $schema: "http://json-schema.org/draft-04/schema#" }, message: M }'),
      says: [
        invalid(
          '5:16',
          'rules.r: schema uses an unknown draft: "http://json-schema.org/draft-04/schema#"',
        ),
      ],
    },
    {
      title: 'with a schema that gives its answer later',
      files: main('{ schema: { $async: true, required: [x] }, message: M }'),
      says: [invalid('5:16', 'rules.r: schema has $async, which Callsheet does not support')],
      hint: 'Take $async out',
    },
    {
      title: 'with a part that gives its answer later',
      files: main(
        '{ schema: { $ref: "#/$defs/a", $defs: { a: { $async: true, properties: { x: { $ref: "#/$defs/a" } } } } }, message: M }',
      ),
      says: [
        invalid(
          '5:16',
          'rules.r: schema cannot be read as JSON Schema: async schema referenced by sync schema',
        ),
      ],
    },
    {
      title: 'with a schema in a file that is not there',
      files: main('{ schema: { $file: r.json }, message: M }'),
      says: [
        'callsheet.yaml:5:25 file/missing callsheet.yaml: rules.r.schema names "r.json", which does not exist',
      ],
    },
    {
      title: 'with a field that no agent has',
      files: rule('true', 'on: agent, field: greeting_mesage'),
      says: [invalid('5:61', 'rules.r: field names "greeting_mesage", which does not exist')],
      hint: 'Did you mean greeting_message?',
    },
    {
      title: 'with a schema whose keywords and properties are slips',
      files: main(
        '{ on: agent, message: M, schema: { requird: [x], x-of-ours: 1, anyOf: [{ required: [nmae] }], properties: { nmae: {}, voice_settings: { minPropertys: 1 }, extensions: { properties: { tols: {} } } } } }',
      ),
      says: [
        invalid('5:41', 'rules.r: schema has the unknown keyword requird'),
        invalid('5:90', 'rules.r: schema asks for nmae, which does not exist'),
        invalid('5:114', 'rules.r: schema asks for nmae, which does not exist'),
        invalid('5:142', 'rules.r: schema has the unknown keyword minPropertys'),
        invalid('5:189', 'rules.r: schema asks for extensions.tols, which does not exist'),
      ],
      hint: 'Did you mean required?',
    },
    {
      title: 'with a schema whose format is a slip',
      files: main('{ message: M, schema: { properties: { name: { format: emial } } } }'),
      says: [invalid('5:52', 'rules.r: schema has the unknown format "emial"')],
      hint: 'Did you mean email?',
    },
    {
      title: 'with a slip in a schema that is a file',
      files: {
        ...main('{ message: M, schema: { $file: r.json } }'),
        'r.json': '{\n  "requird": ["name"]\n}\n',
      },
      says: ['r.json:2:3 rules/invalid rules.r: schema has the unknown keyword requird'],
    },
    {
      title: 'that is none',
      files: main('true'),
      says: ['callsheet.yaml:5:6 schema/type callsheet.yaml: rules.r must be a map, not true'],
    },
    {
      title: 'with a name that is none',
      files: { 'callsheet.yaml': `${MAIN}rules: { "a b": { require: "true", message: M } }\n` },
      says: [
        'callsheet.yaml:4:10 rules/name rules has "a b", which is not a valid name for a rule',
      ],
    },
    {
      title: 'beside another file',
      files: { 'other.yaml': 'rules: { r: { require: "true", message: M } }' },
      says: ['other.yaml:1:1 stack/misplaced rules belongs in callsheet.yaml'],
    },
  ]);
});

describe('a rule over resources', () => {
  const says = (at: string, message: string) => `agents.yaml:${at} rules/r agent.a: ${message}`;
  broken([
    {
      title: 'that holds says nothing',
      files: {
        ...rule(
          'kind == "agent" && name == "a" && address == "agent.a" && organization == "harbor"',
        ),
        ...agent(),
      },
      says: [],
    },
    {
      title: 'that does not hold is told at the resource',
      files: { ...rule('kind != "agent"'), ...agent() },
      says: [says('2:3', 'Must be')],
    },
    {
      title: 'is told at its field',
      files: { ...rule('false', 'field: model'), ...agent('model: m') },
      says: [says('4:5', 'Must be')],
    },
    {
      title: 'may be a warning',
      files: { ...rule('false', 'severity: warning'), ...agent() },
      says: [says('2:3', 'Must be').replace('rules', 'warning rules')],
    },
    {
      title: 'leaves other kinds alone',
      files: { ...rule('false', 'on: [retry_policy]'), ...agent() },
      says: [],
    },
    {
      title: 'is asked when its condition holds',
      files: { ...rule('false', `when: 'resource.model == "m"'`), ...agent('model: m') },
      says: [says('2:3', 'Must be')],
    },
    {
      title: 'is not asked of what lacks the field',
      files: { ...rule('false', `when: 'resource.model == "m"'`), ...agent() },
      says: [],
    },
    {
      title: 'that cannot be asked counts as broken',
      files: { ...rule('resource.model == "m"'), ...agent() },
      says: [says('2:3', 'Must be (require could not be checked: no such key: model)')],
      hint: 'Correct the rule at callsheet.yaml:5: first check that it exists, with has(….model)',
    },
    {
      title: 'whose types do not fit counts as broken',
      files: { ...rule('resource.model > 1'), ...agent('model: m') },
      says: [
        says('2:3', 'Must be (require could not be checked: no such overload: dyn<string> > int)'),
      ],
    },
    {
      title: 'reckons with whole numbers and with others',
      files: {
        ...rule(
          'resource.config.inactivity_timeout + 1 == 21 && resource.voice_settings.speed < 2 && resource.voice_settings.speed * 2.0 == 2.5',
        ),
        ...agent('config: { inactivity_timeout: 20 }', 'voice_settings: { speed: 1.25 }'),
      },
      says: [],
    },
    {
      title: 'takes null for absent',
      files: { ...rule('!has(resource.description)'), ...agent('description: null') },
      says: [],
    },
    {
      title: 'sees a secret as its source, what is sensitive masked, and a reference as an address',
      files: {
        ...rule(
          'resource == {"name": "A", "organization_id": resource.organization_id, "default_retry_policy_id": "retry_policy.g", "integrations": {"smsProvider": {"auth_token": {"$secret": "env:T"}}}, "extensions": {"tools": [{"type": "webhook", "name": "t", "condition": "after_call", "method": "GET", "url": "https://x.test", "headers": [{"key": "X", "value": "***"}]}]}}',
          'on: agent',
        ),
        ...agent(
          'default_retry_policy_id: { $ref: retry_policy.g }',
          'integrations: { smsProvider: { auth_token: { $secret: env:T } } }',
          'extensions: { tools: [{ type: webhook, name: t, condition: after_call, method: GET, url: "https://x.test", headers: [{ key: X, value: abc }] }] }',
        ),
        'p.yaml': 'retry_policies: { g: { name: G } }',
      },
      says: [],
    },
    {
      title: 'sees all resources',
      files: {
        ...rule(
          'resources.exists_one(r, r.kind == "agent" && r.resource.name.startsWith("A")) && resources.size() == 3',
          'on: agent',
        ),
        ...agent(),
        'p.yaml': 'retry_policies: { g: { name: G }, h: { name: H } }',
      },
      says: [],
    },
    {
      title: 'reads no member that every object has',
      files: {
        ...rule('!("constructor" in resource) && !has(resource.config.toString)', 'on: agent'),
        ...agent('config: {}'),
      },
      says: [],
    },
    {
      title: 'a warning can be silenced',
      files: {
        ...rule('false', 'severity: warning'),
        ...agent('# callsheet-ignore rules/r: known', 'model: m'),
        'agents.yaml': 'agents:\n  # callsheet-ignore rules/r: known\n  a: { name: A }\n',
      },
      says: [],
    },
    {
      title: 'an error cannot be silenced',
      files: {
        ...rule('false'),
        'agents.yaml': 'agents:\n  # callsheet-ignore rules/r: known\n  a: { name: A }\n',
      },
      says: [
        'agents.yaml:2:22 warning lint/unused-ignore callsheet-ignore names rules/r, which is an error: a comment cannot silence it',
        says('3:3', 'Must be'),
      ],
    },
  ]);

  const tools =
    'extensions: { tools: [{ type: webhook, name: t, condition: after_call, method: GET, url: "https://x.test" }] }';
  const schema = (text: string, files: Files = {}) => ({
    ...main(`{ schema: ${text}, message: Shape }`),
    ...files,
    ...agent(tools),
  });
  const inner =
    '{ properties: { extensions: { properties: { tools: { items: { required: [description] } } } } } }';
  const lacking = says('4:27', 'Shape: extensions.tools[t] needs description');
  broken([
    { title: 'in JSON Schema is told at the field', files: schema(inner), says: [lacking] },
    {
      title: 'in JSON Schema may come from a file',
      files: schema('{ $file: rules/agent.json }', {
        'rules/agent.json':
          '{ "$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/agent", "definitions": { "agent": { "required": ["model"] } } }',
      }),
      says: [says('2:3', 'Shape: needs model')],
    },
    {
      title: 'in JSON Schema that fits says nothing',
      files: schema('{ required: [name], $defs: {} }'),
      says: [],
    },
    {
      title: 'in JSON Schema has words for what it finds',
      files: schema(
        '{ properties: { name: { enum: [B, C], minLength: 2, pattern: "^B", const: B, type: integer }, model: {} }, not: { required: [name] }, additionalProperties: false }',
      ),
      says: [
        says('2:3', 'Shape: is what it must not be'),
        says('2:3', 'Shape: must not have organization_id'),
        says('2:3', 'Shape: must not have extensions'),
        says('3:5', 'Shape: name must be integer'),
        says('3:5', 'Shape: name must be "B"'),
        says('3:5', 'Shape: name must be one of "B", "C"'),
        says('3:5', 'Shape: name must have at least 2 characters'),
        says('3:5', 'Shape: name does not match ^B'),
      ],
    },
  ]);
});

describe('the examples of docs/rules.md', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../../docs/rules.md'), 'utf8');
  const [yaml = ''] = /```yaml\nrules:\n[\s\S]*?```/.exec(docs) ?? [];
  const rules = yaml.replace(/```(?:yaml\n)?/g, '');
  const told = async (files: Files) => {
    const { diagnostics } = await load({ 'callsheet.yaml': `${MAIN}${rules}`, ...files });
    return diagnostics.map(said);
  };
  const tool = (url: string, description: string) =>
    `extensions: { tools: [{ type: webhook, name: t, condition: after_call, method: GET, url: "${url}", description: ${description} }] }`;

  test.each([
    [
      'agent_type: outbound',
      '2:3 rules/outbound-needs-contact-policy agent.a: Every outbound agent needs a contact_policy',
    ],
    [
      tool('http://x.test', 'Finds a patient by phone number'),
      '4:5 rules/https-webhooks agent.a: Webhooks are called over https alone',
    ],
    [
      tool('https://x.test', 'Finds'),
      '4:112 rules/described-tools agent.a: The model chooses tools by their description: extensions.tools[t].description must have at least 20 characters',
    ],
  ])('%s', async (line, says) => {
    expect(await told(agent(line))).toEqual([`agents.yaml:${says}`]);
  });

  test('say nothing of what they allow', async () => {
    expect(
      await told(
        agent(
          'agent_type: outbound',
          'contact_policy: {}',
          tool('https://x.test', 'Finds a patient by phone number'),
        ),
      ),
    ).toEqual([]);
  });

  test('compare agents with each other', async () => {
    const voices = (b: string) => ({
      'agents.yaml': `agents:\n  a: { name: A, voice_settings: { voice_id: one } }\n  b: { name: B, voice_settings: { voice_id: ${b} } }\n  c: { name: C, organization: bay, voice_settings: { voice_id: three } }\n  d: { name: D }\n`,
    });
    const says = 'All agents of a clinic speak with one voice';
    expect(await told(voices('one'))).toEqual([]);
    expect(await told(voices('two'))).toEqual([
      `agents.yaml:2:35 warning rules/one-voice-a-clinic agent.a: ${says}`,
      `agents.yaml:3:35 warning rules/one-voice-a-clinic agent.b: ${says}`,
    ]);
  });
});
