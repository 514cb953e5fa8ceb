"""What forms share: a service's refusal, shown at the field that is at fault."""

from django.forms import Form

from clusters_app.services.errors import ServiceError


def show_refusal(form: Form, error: ServiceError) -> None:
    """Put the text at the field that the error names, or above the form."""
    form.add_error(error.field if error.field in form.fields else None, str(error))
