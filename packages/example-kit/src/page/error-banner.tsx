/** A turn that failed: what happened, and the way on. */
import { Icon } from "./icons";

interface ErrorBannerProperties {
  readonly message: string;
  readonly onRetry: () => void;
  readonly onDismiss: () => void;
}

export function ErrorBanner({ message, onRetry, onDismiss }: ErrorBannerProperties) {
  return (
    <div className="banner banner-error" role="alert">
      <Icon name="alert" />
      <p>{message === "" ? "The answer failed, and no reason was given." : message}</p>
      <button type="button" className="button button-small" onClick={onRetry}>
        Retry
      </button>
      <button type="button" className="button-icon button-small" aria-label="Dismiss" onClick={onDismiss}>
        <Icon name="close" size={16} />
      </button>
    </div>
  );
}
