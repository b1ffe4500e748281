import { expect, test } from 'vitest';
import { broken, loadGood, MAIN } from './stack-folder.ts';

/** A stack whose `platform.endpoints` holds these lines. */
const having = (...lines: readonly string[]) => ({
  'callsheet.yaml': `${MAIN}platform:\n  endpoints:\n${lines.map((line) => `    ${line}\n`).join('')}`,
});

broken([
  {
    title: 'an operation that there is not, with the one that was meant',
    files: having('createRetryPolcy: { path: /v2/policies }'),
    says: [
      'callsheet.yaml:6:5 platform/operation callsheet.yaml: platform.endpoints: createRetryPolcy is not an operation of the platform',
    ],
    hint: 'Did you mean createRetryPolicy?',
  },
  {
    title: 'an operation that nothing is like',
    files: having('x: { method: GET }'),
    says: [
      'callsheet.yaml:6:5 platform/operation callsheet.yaml: platform.endpoints: x is not an operation of the platform',
    ],
    hint: 'callsheet explain assumptions',
  },
  {
    title: 'a method that there is not, with the one that was meant',
    files: having('updateSmsTemplate:', '  method: PATC'),
    says: [
      'callsheet.yaml:7:15 schema/enum callsheet.yaml: platform.endpoints.updateSmsTemplate.method cannot be "PATC"',
    ],
    hint: 'Did you mean PATCH?',
  },
  {
    title: 'a path without its parameter, and with one that nothing fills in',
    files: having('updateSmsTemplate:', '  path: /v2/texts/{id}'),
    says: [
      'callsheet.yaml:7:13 platform/path callsheet.yaml: platform.endpoints: the path of updateSmsTemplate lacks {templateId}, which /v1/sms-templates/{templateId} has',
      'callsheet.yaml:7:13 platform/path callsheet.yaml: platform.endpoints: the path of updateSmsTemplate has {id}, which /v1/sms-templates/{templateId} does not have',
    ],
  },
  {
    title: 'a path that is none is said once',
    files: having('listSmsTemplates: { path: v2/texts }'),
    says: [
      'callsheet.yaml:6:31 schema/pattern callsheet.yaml: platform.endpoints.listSmsTemplates.path does not have the form that the platform or Callsheet reads',
    ],
  },
  {
    title: 'several at once',
    files: having(
      'getSmsTemplat: {}',
      'getAgent: { path: /v2/agents }',
      'deleteAgent: { path: /v2 }',
    ),
    says: [
      'callsheet.yaml:6:5 platform/operation callsheet.yaml: platform.endpoints: getSmsTemplat is not an operation of the platform',
      'callsheet.yaml:7:5 platform/operation callsheet.yaml: platform.endpoints: getAgent is documented: it stays at GET /v1/agents/{agentId}',
      'callsheet.yaml:8:26 platform/path callsheet.yaml: platform.endpoints: the path of deleteAgent lacks {agentId}, which /v1/agents/{agentId} has',
    ],
    hint: 'Did you mean getSmsTemplate?',
  },
]);

test('what is right is read, variables filled in', async () => {
  const main = `${MAIN}variables: { version: { default: v2 } }
platform:
  assume: false
  endpoints:
    deleteAgent: { path: "/\${var.version}/agents/{agentId}" }
    updateSmsTemplate: { method: PUT }
`;
  const { platform } = await loadGood({ 'callsheet.yaml': main });
  expect(platform).toMatchObject({
    assume: false,
    endpoints: {
      deleteAgent: { path: '/v2/agents/{agentId}' },
      updateSmsTemplate: { method: 'PUT' },
    },
  });
});
