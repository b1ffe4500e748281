import { describe, expect, it } from 'vitest';
import { checkEndpoints, type WrittenEndpoint } from '../../src/core/endpoints.ts';
import { type Endpoints, readEndpoints } from '../../src/platform/endpoints.ts';
import { operations } from '../../src/platform/operations.generated.ts';
import { failure, KEY, minted, open, type Reply, script, useScripts } from './platform.ts';

useScripts();

describe('an override', () => {
  it.each<{ operation: string; written: WrittenEndpoint; says: readonly RegExp[] }>([
    { operation: 'deleteAgent', written: { path: '/v2/agents/{agentId}' }, says: [] },
    { operation: 'updateSmsTemplate', written: { method: 'POST' }, says: [] },
    { operation: 'listSmsTemplates', written: { path: '/v2/texts/' }, says: [] },
    { operation: 'listSmsTemplates', written: {}, says: [] },
    { operation: 'getAgnt', written: {}, says: [/^getAgnt is not an operation/] },
    { operation: 'toString', written: {}, says: [/^toString is not an operation/] },
    { operation: 'getAgent', written: {}, says: [/^getAgent is documented: it stays at GET/] },
    {
      operation: 'deleteAgent',
      written: { method: 'delete' },
      says: [/"delete"; it may be DELETE/],
    },
    ...(
      [
        ['texts', /does not begin with a slash/],
        ['/a?b=c', /that a path cannot/],
        ['/a#b', /that a path cannot/],
        ['/a b', /that a path cannot/],
        ['/a\\b', /that a path cannot/],
        ['/a;b', /that a path cannot/],
        ['/{', /that a path cannot/],
        ['/a//b', /that a path cannot/],
        ['/a/../b', /a step of dots/],
        ['/v1/agents', /may lead to the operation listAgents, GET \/v1\/agents$/],
        ['/v1/agents/x', /may lead to the operation getAgent/],
      ] as const
    ).map(([path, words]) => ({
      operation: 'listSmsTemplates',
      written: { path },
      says: [words],
    })),
    {
      operation: 'deleteAgent',
      written: { path: '/v1/agents/{agentID}' },
      says: [/lacks \{agentId\}, which \/v1\/agents\/\{agentId\} has/, /has \{agentID\}, which/],
    },
  ])('of $operation: $written', ({ operation, written, says }) => {
    const problems = checkEndpoints({ [operation]: written }, operations);
    expect(problems.map(({ message }) => message)).toEqual(
      says.map((words) => expect.stringMatching(words)),
    );
  });

  it('that is wrong comes with what may stand there', () => {
    const [unknown, method] = checkEndpoints(
      { getSmsTemplat: {}, updateSmsTemplate: { method: 'HEAD' } },
      operations,
    );
    expect(unknown).toMatchObject({ operation: 'getSmsTemplat', member: undefined });
    expect(unknown?.candidates).toContain('getSmsTemplate');
    expect(method).toMatchObject({ member: 'method', candidates: expect.arrayContaining(['PUT']) });
  });

  it('that is wrong stops a client before it is opened, with all that is wrong', () => {
    const endpoints = { getAgnt: {}, deleteAgent: { path: '/x' } };
    expect(() => readEndpoints({ endpoints, assume: true })).toThrow(
      /^platform.endpoints cannot be used: getAgnt is not an operation of the platform; the path of deleteAgent lacks/,
    );
  });
});

const template: Reply = { body: { data: { id: 't' } } };
const wanted = { operation: 'getEmailTemplate', path: { templateId: 't' } };

function endpoints(overrides: Endpoints['overrides'], assume = true): Endpoints {
  return { overrides, assume };
}

describe('a call', () => {
  it('goes where the stack says, with its parameters', async () => {
    const seen = script({ 'POST /v9/mail/t%2F1/read': [template] });
    const moved = {
      getEmailTemplate: { method: 'POST', path: '/v9/mail/{templateId}/read' },
    } as const;
    const client = open({ endpoints: endpoints(moved) });
    await client.call({ ...wanted, path: { templateId: 't/1' } });
    expect(seen).toHaveLength(1);
  });

  it('mints where the stack says', async () => {
    const seen = script({
      'POST /login': [minted('t1')],
      'GET /v1/me': [{ body: { account_id: 'x' } }],
    });
    const moved = { createToken: { path: '/login' } };
    await open({ credentials: KEY, endpoints: endpoints(moved) }).call({ operation: 'getMe' });
    expect(seen.map(({ path }) => path)).toEqual(['/login', '/v1/me']);
  });

  it.each([{ how: 'call' }, { how: 'list' }, { how: 'each' }] as const)(
    'that is only assumed is refused by $how before anything is sent',
    async ({ how }) => {
      const client = open({ credentials: KEY, endpoints: endpoints({}, false) });
      const list = { operation: 'listSmsTemplates' };
      const perform = async () => {
        if (how === 'call') await client.call(list);
        else if (how === 'list') await client.list(list);
        else for await (const _ of client.each(list));
      };
      const error = await failure(perform());
      expect(error).toMatchObject({
        code: 'refused',
        message:
          'listSmsTemplates is not called: the specification does not show it (assumption sms_template.list), and platform.assume is false',
        hint: 'Set the path of the platform for it under platform.endpoints.listSmsTemplates, or set platform.assume to true.',
      });
      expect(client.spent().requests).toBe(0);
    },
  );

  it.each([
    { what: 'the specification shows', operation: 'getAgent', moved: {}, line: 'GET /v1/agents/t' },
    {
      what: 'the stack places',
      operation: 'getEmailTemplate',
      moved: { getEmailTemplate: { path: '/v1/mails/{templateId}' } },
      line: 'GET /v1/mails/t',
    },
  ])('that $what is made all the same', async ({ operation, moved, line }) => {
    script({ [line]: [template] });
    const client = open({ endpoints: endpoints(moved, false) });
    await client.call({ operation, path: { templateId: 't', agentId: 't' } });
  });
});

describe('nothing at an address', () => {
  const nothing: Reply = { status: 404, body: { error: 'not_found' } };
  it.each<{
    what: string;
    operation: string;
    line: string;
    moved?: string;
    reply?: Reply;
    hint: string;
  }>([
    {
      what: 'of an assumed list',
      operation: 'listSmsTemplates',
      line: 'GET /v1/sms-templates',
      hint: 'The platform does not have this call: its specification does not show it (assumption sms_template.list). If the platform has it at another path, set platform.endpoints.listSmsTemplates.',
    },
    {
      what: 'of an assumed record',
      operation: 'getSmsTemplate',
      line: 'GET /v1/sms-templates/t',
      hint: 'The platform may not have this call: its specification does not show it (assumption sms_template.get). If the platform has it at another path, set platform.endpoints.getSmsTemplate.',
    },
    {
      what: 'where another method is wanted',
      operation: 'getSmsTemplate',
      line: 'GET /v1/sms-templates/t',
      reply: { status: 405 },
      hint: 'The platform may not have this call: its specification does not show it (assumption sms_template.get). If the platform has it at another path, set platform.endpoints.getSmsTemplate.',
    },
    {
      what: 'where the stack puts it',
      operation: 'getSmsTemplate',
      line: 'GET /v2/sms/t',
      moved: '/v2/sms/{templateId}',
      hint: 'platform.endpoints puts getSmsTemplate at GET /v2/sms/{templateId}: check that the platform has it there.',
    },
  ])('$what', async ({ operation, line, moved, reply = nothing, hint }) => {
    script({ [line]: [reply] });
    const overrides = moved === undefined ? {} : { [operation]: { path: moved } };
    const client = open({ endpoints: endpoints(overrides) });
    const error = await failure(client.call({ operation, path: { templateId: 't' } }));
    expect(error).toMatchObject({ name: 'ApiError', hint });
  });
});
