import { describe } from 'vitest';
import { TOKEN, tool, writes } from './writes.ts';

/** Secrets are left out of what is returned; an update that leaves them out keeps them (Secrets rules). */
describe('a secret in a write', () => {
  const PATH = 'integrations.smsProvider.auth_token';
  const desired = { integrations: { smsProvider: { account_sid: 'AC2', auth_token: TOKEN } } };
  const live = { integrations: { smsProvider: { account_sid: 'AC1', connected_at: 'then' } } };
  writes([
    {
      title: 'is left out unless it is to be sent',
      desired,
      live,
      fields: ['integrations'],
      body: { integrations: { smsProvider: { account_sid: 'AC2', connected_at: 'then' } } },
    },
    {
      title: 'is sent where it is to be sent',
      desired,
      live,
      secrets: [PATH],
      fields: ['integrations'],
      body: {
        integrations: {
          smsProvider: { account_sid: 'AC2', connected_at: 'then', auth_token: 'the token' },
        },
      },
    },
    {
      title: 'that the platform returns in clear is sent with its list',
      desired: { extensions: { tools: [{ ...tool('a'), headers: [{ key: 'X', value: TOKEN }] }] } },
      live: { extensions: { tools: [tool('a', { headers: [{ key: 'X', value: 'old' }] })] } },
      fields: ['extensions'],
      body: { extensions: { tools: [tool('a', { headers: [{ key: 'X', value: 'the token' }] })] } },
    },
    {
      title: 'that no schema names and that the platform returns goes back as it was read',
      desired: { integrations: { ehrProvider: { username: 'b', pass_phrase: TOKEN } } },
      live: { integrations: { ehrProvider: { username: 'a', pass_phrase: 'stored' } } },
      fields: ['integrations'],
      body: { integrations: { ehrProvider: { username: 'b', pass_phrase: 'stored' } } },
    },
    {
      title: 'that was not read is left out where nothing is there, and not sent as null',
      desired: { greeting_message: { $secret: 'env:UNREAD' }, system_prompt: 'Be kind.' },
      live: {},
      fields: ['greeting_message', 'system_prompt'],
      body: { systemPrompt: 'Be kind.' },
    },
    {
      title: 'that the platform returns in clear stays as it is where it was not read',
      desired: {
        extensions: {
          tools: [{ ...tool('a'), headers: [{ key: 'X', value: { $secret: 'env:UNREAD' } }] }],
        },
      },
      live: { extensions: { tools: [tool('a', { headers: [{ key: 'X', value: 'old' }] })] } },
      fields: ['extensions'],
      body: { extensions: { tools: [tool('a', { headers: [{ key: 'X', value: 'old' }] })] } },
    },
  ]);
});
