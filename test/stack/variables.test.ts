import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadStack } from '../../src/stack/index.ts';
import { agent, broken, folderOf, loadGood, MAIN, said } from './stack-folder.ts';

const declared = `${MAIN}variables:
  city: { env: CALLSHEET_VAR_CITY, default: Springfield }
  phone: { env: CALLSHEET_VAR_PHONE }
  speed: { default: 1.10 }
  on: { default: true }
`;
const main = { 'callsheet.yaml': declared };

broken([
  {
    title: 'an unknown variable, with the nearest',
    files: { ...main, ...agent(`greeting_message: "In \${var.ctiy}"`) },
    says: [
      `agents.yaml:4:27 variable/unknown agent.a: greeting_message uses \${var.ctiy}, which is not a variable of the stack`,
    ],
    hint: `Did you mean \${var.city}?`,
  },
  {
    title: 'a variable without a value is an error only where it is used',
    files: { ...main, ...agent(`greeting_message: "Call \${var.phone} or \${var.city}"`) },
    says: [
      `agents.yaml:4:29 variable/missing agent.a: greeting_message uses \${var.phone}, which has no value`,
    ],
    hint: 'Set CALLSHEET_VAR_PHONE, or give --var phone=…',
  },
  {
    title: 'an environment variable that is empty counts as not set',
    files: { ...main, ...agent(`greeting_message: \${var.phone}`) },
    options: { env: { CALLSHEET_VAR_PHONE: '' } },
    says: [
      `agents.yaml:4:23 variable/missing agent.a: greeting_message uses \${var.phone}, which has no value`,
    ],
  },
  ...['constructor', '__proto__', 'toString'].map((env) => ({
    title: `${env} is no environment variable that is set`,
    files: {
      'callsheet.yaml': `${MAIN}variables: { x: { env: ${env} } }\n`,
      ...agent(`greeting_message: \${var.x}`),
    },
    options: { allowEnv: [env] },
    says: [
      `agents.yaml:4:23 variable/missing agent.a: greeting_message uses \${var.x}, which has no value`,
    ],
  })),
  {
    title: 'expressions that are none',
    files: {
      ...main,
      ...agent(`greeting_message: "\${city} \${var.city"`, `description: "\${secret.x}"`),
    },
    says: [
      `agents.yaml:4:24 variable/syntax agent.a: greeting_message uses \${city}, which is not of the form \${var.name}`,
      `agents.yaml:4:32 variable/syntax agent.a: greeting_message opens \${ and never closes it`,
      `agents.yaml:5:19 variable/syntax agent.a: description uses \${secret.x}, which is not of the form \${var.name}`,
    ],
    hint: '$${',
  },
  {
    title: 'declarations that cannot work',
    files: {
      'callsheet.yaml': `${MAIN}variables:\n  a b: {}\n  c: { default: "\${var.a}", evn: X }\n  d: text\n`,
    },
    says: [
      'callsheet.yaml:5:3 variable/name callsheet.yaml: "a b" cannot name a variable',
      `callsheet.yaml:6:17 variable/syntax callsheet.yaml: the default of c holds \${var.…}, which Callsheet does not fill in there`,
      'callsheet.yaml:6:29 schema/unknown-key callsheet.yaml: variables.c has no field "evn"',
      'callsheet.yaml:7:6 schema/type callsheet.yaml: variables.d must be a map, not text',
    ],
  },
  {
    title: 'values for variables that do not exist, and files that cannot be read',
    files: main,
    options: { vars: { cty: 'x' }, varFiles: ['no/such/file.yaml'] },
    says: [
      'file/missing --var-file names "no/such/file.yaml", which does not exist',
      'variable/unknown --var sets cty, which is not a variable of the stack',
    ],
    hint: 'Did you mean city?',
  },
]);

test('the command line wins over files, these over the environment, that over the default', async () => {
  const values = folderOf({
    'one.yaml': 'city: One\nphone: "1"\n',
    'two.json': '{ "city": "Two", "speed": 2 }',
  });
  const varFiles = [join(values, 'one.yaml'), join(values, 'two.json')];
  const files = {
    ...main,
    ...agent(`greeting_message: "\${var.city} \${var.phone} \${var.speed}"`),
  };
  const greeting = async (options: Parameters<typeof loadGood>[1]) =>
    (await loadGood(files, options)).resources[0]?.document.greeting_message;
  expect(await greeting({ env: { CALLSHEET_VAR_PHONE: '0' } })).toBe('Springfield 0 1.10');
  expect(await greeting({ env: { CALLSHEET_VAR_PHONE: '0', CALLSHEET_VAR_CITY: 'Env' } })).toBe(
    'Env 0 1.10',
  );
  expect(await greeting({ env: { CALLSHEET_VAR_CITY: 'Env' }, varFiles })).toBe('Two 1 2');
  expect(await greeting({ vars: { city: 'Var' }, varFiles })).toBe('Var 1 2');
});

test('a variable alone stands for a number or a truth value where one is wanted', async () => {
  const { resources } = await loadGood({
    ...main,
    ...agent(
      `voice_settings: { speed: "\${var.speed}", language: "\${var.speed}" }`,
      `echo_detection: \${var.on}`,
    ),
  });
  expect(resources[0]?.document).toMatchObject({
    voice_settings: { speed: 1.1, language: '1.10' },
    echo_detection: true,
  });
});

test('$${ is a literal, {{token}} is left alone, and the text of a file is not touched', async () => {
  const { resources } = await loadGood({
    ...main,
    'p.md': `\${var.city} {{name}}`,
    ...agent(`greeting_message: "$\${var.city} {{name|there}}"`, 'system_prompt: { $file: p.md }'),
  });
  expect(resources[0]?.document).toMatchObject({
    greeting_message: `\${var.city} {{name|there}}`,
    system_prompt: `\${var.city} {{name}}`,
  });
});

test('no frame shows the values of a file of variables', async () => {
  const dir = folderOf({ 'callsheet.yaml': declared });
  const values = folderOf({ 'v.yaml': 'city: canary-1\ncitty: canary-2\nphone:\n  - canary-3\n' });
  const varFiles = [join(values, 'v.yaml')];
  const { diagnostics } = await loadStack({ dir, env: {}, secrets: 'skip', varFiles });
  expect(diagnostics.map(said).map((text) => text.replaceAll(values, ''))).toEqual([
    '/v.yaml:2:1 warning variable/unknown /v.yaml sets citty, which is not a variable of the stack',
    '/v.yaml:4:3 variable/value the variable phone must be a text, a number, true or false',
  ]);
  expect(JSON.stringify(diagnostics)).not.toContain('canary');
});
