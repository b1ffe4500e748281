import { expect, test } from 'vitest';
import { agent, broken, loadGood, MAIN } from './stack-folder.ts';

test('a template is filled in with what it is given, variables and the row', async () => {
  const { resources } = await loadGood({
    'callsheet.yaml': `${MAIN}variables: { city: { default: Bay } }\n`,
    'agents.yaml': `agents:
  a:
    for_each: [{ slug: x, hours: 9 to 5 }]
    key: \${each.slug}
    name: A
    system_prompt: { $template: p.md, with: { who: "Dr \${each.slug}", beds: 4, open: true } }
`,
    'p.md':
      'You are ${who} of ${var.city}, ${ beds } beds, open ${open}, ${each.hours}. $${x} {{caller_id|nobody}}\n',
  });
  expect(resources[0]?.document.system_prompt).toBe(
    'You are Dr x of Bay, 4 beds, open true, 9 to 5. ${x} {{caller_id|nobody}}\n',
  );
});

broken([
  {
    title: 'names that do not meet, both ways',
    files: {
      ...agent('system_prompt: { $template: p.md, with: { naem: A, city: B } }'),
      'p.md': 'In ${city}\nyou are ${name}.\n',
    },
    says: [
      'agents.yaml:4:47 warning template/unused agent.a: system_prompt gives naem, which the template does not use',
      'p.md:2:9 template/name agent.a: system_prompt uses ${name}, which is missing in with',
    ],
    hint: 'Did you mean ${naem}?',
  },
  {
    title: 'a template that is not there, and one in a field that holds no prose',
    files: {
      ...agent('system_prompt: { $template: p.mdd }', 'status: { $template: p.md }'),
      'p.md': 'x',
    },
    says: [
      'agents.yaml:4:33 file/missing agent.a: system_prompt names "p.mdd", which does not exist',
      'agents.yaml:5:15 file/not-allowed agent.a: status cannot be given as $template',
    ],
    hint: 'Did you mean "p.md"?',
  },
  {
    title: 'names that nothing could use',
    files: {
      ...agent('system_prompt: { $template: p.md, with: { "(": y, a.b: z, "": w, ok: v } }'),
      'p.md': '${ok}',
    },
    says: [
      'agents.yaml:4:47 template/name agent.a: system_prompt gives "(", which cannot name a value of with',
      'agents.yaml:4:55 template/name agent.a: system_prompt gives "a.b", which cannot name a value of with',
      'agents.yaml:4:63 template/name agent.a: system_prompt gives "", which cannot name a value of with',
    ],
    hint: 'begin with a letter',
  },
  {
    title: 'a name that is only written as a literal is not used',
    files: {
      ...agent('system_prompt: { $template: p.md, with: { who: y } }'),
      'p.md': 'Say $${who}.',
    },
    says: [
      'agents.yaml:4:47 warning template/unused agent.a: system_prompt gives who, which the template does not use',
    ],
  },
  {
    title: 'forms that are none',
    files: {
      ...agent(
        'system_prompt: { $template: p.md, wiht: {} }',
        'greeting_message: { $template: [p.md] }',
        'description: { $template: p.md, with: [a] }',
        'voicemail_message: { $template: p.md, with: { x: [1] } }',
      ),
      'p.md': '${x}',
    },
    says: [
      'agents.yaml:4:39 form/mixed agent.a: system_prompt has wiht next to $template',
      'agents.yaml:5:36 form/value agent.a: greeting_message needs a text after $template',
      'agents.yaml:6:43 form/value agent.a: description needs a map of names and values after with, not a list',
      'agents.yaml:7:54 form/value agent.a: voicemail_message gives x of with as a list; it must be a text, a number, true or false',
      'p.md:1:1 template/name agent.a: description uses ${x}, which is missing in with',
    ],
  },
  {
    title: 'an expression that is none of the template’s',
    files: {
      ...agent('system_prompt: { $template: p.md }'),
      'p.md': '${a b} ${var.nope} ${',
    },
    says: [
      'p.md:1:1 variable/syntax agent.a: system_prompt uses ${a b}, which is not of the form ${var.name} or ${name} of with',
      'p.md:1:8 variable/unknown agent.a: system_prompt uses ${var.nope}, which is not a variable of the stack',
      'p.md:1:20 variable/syntax agent.a: system_prompt opens ${ and never closes it',
    ],
  },
]);
