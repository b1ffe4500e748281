/** What the address of each store must look like. An endpoint may be left out. */
const SCHEMES: { readonly [store: string]: readonly string[] } = {
  http: ['https:', 'http:'],
  postgres: ['postgres:', 'postgresql:'],
  s3: ['https:', 'http:'],
};

export type AddressProblem = { readonly message: string; readonly hint: string };

/** What is wrong with the address of a store; undefined where nothing is. `name`: `state.postgres.url`. */
export function addressProblem(
  store: string,
  name: string,
  text: string,
): AddressProblem | undefined {
  const schemes = SCHEMES[store] ?? [];
  const isAddress = URL.canParse(text) && new URL(text).hostname !== '';
  if (isAddress && schemes.includes(new URL(text).protocol)) return undefined;
  if (/^env:/.test(text))
    return {
      message: `${name} is not taken from the environment`,
      hint: 'Write the address itself, with ${var.NAME} for what differs. The place as a whole can come from the environment: CALLSHEET_STATE.',
    };
  return {
    message: `${name} is no address that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    hint: 'docs/state.md shows an address of each store.',
  };
}
