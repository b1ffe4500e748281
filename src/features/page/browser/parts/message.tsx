import { splitCommands } from '../../../../core/command-line.ts';
import { sanitise } from '../../../../render/untrusted.ts';

/** A message, in which commands are code, so that they differ from words and can be copied as they are. */
export function Message({ text }: { readonly text: string }) {
  return (
    <>
      {splitCommands(sanitise(text)).map((one) =>
        one.isCommand ? <code class="command">{one.text}</code> : one.text,
      )}
    </>
  );
}
