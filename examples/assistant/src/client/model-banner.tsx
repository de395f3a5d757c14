/** Says plainly that no language model is connected, and how to change that. */
import { Icon } from "@cloudflare/think-example-kit/page";

export function ModelBanner({ onConnect }: { readonly onConnect: () => void }) {
  return (
    <p className="banner banner-model">
      <Icon name="plug" size={16} />
      <span>
        <strong>Offline model</strong>
        <span className="banner-detail">: a few built-in requests, real tools.</span>
      </span>
      <button type="button" className="link" onClick={onConnect}>
        Connect a model
      </button>
    </p>
  );
}
