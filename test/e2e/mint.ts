import type { Simulator } from '../../src/simulator/index.ts';

/** A token of a simulator's account. */
export async function mint({
  url,
  clientId,
  clientSecret,
}: Pick<Simulator, 'url' | 'clientId' | 'clientSecret'>): Promise<string> {
  const answer = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_id: clientId,
      client_secret: clientSecret,
      audience: `${url}/`,
      grant_type: 'client_credentials',
    }),
  });
  const { access_token: token } = (await answer.json()) as { readonly access_token: string };
  return token;
}
