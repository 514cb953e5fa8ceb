"""Signing in and out, and one's own account."""

from django import forms
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from clusters_app.access import actor_of, address_of
from clusters_app.services import accounts
from clusters_app.services.errors import ServiceError

BACKEND = "django.contrib.auth.backends.ModelBackend"
YEAR = 365 * 24 * 3600


class SignInForm(forms.Form):
    username = forms.CharField(label=gettext_lazy("Name"), max_length=150)
    password = forms.CharField(label=gettext_lazy("Password"), widget=forms.PasswordInput)


class PasswordForm(forms.Form):
    password = forms.CharField(
        label=gettext_lazy("New password"), widget=forms.PasswordInput(attrs={"autocomplete": "new-password"})
    )


def sign_in(request: HttpRequest) -> HttpResponse:
    form = SignInForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        address = address_of(request)
        try:
            accounts.refuse_after_many_attempts(address=address)
        except ServiceError as error:
            form.add_error(None, str(error))
            return render(request, "sign_in.html", {"form": form}, status=429)
        user = authenticate(request, **form.cleaned_data)
        if user is not None:
            login(request, user)
            return HttpResponseRedirect(_next_url(request))
        accounts.note_failed_attempt(address=address)
        form.add_error(None, _("This name and password do not belong together."))
    status = 422 if form.errors else 200
    return render(request, "sign_in.html", {"form": form, "is_first_run": accounts.is_first_run()}, status=status)


def _next_url(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_ours else reverse("fleet")


def first_run(request: HttpRequest, value: str) -> HttpResponse:
    """A sign-in link. Opening it only shows a button, so that a mail scanner that follows links uses nothing up."""
    if request.method != "POST":
        return render(request, "first_run.html")
    try:
        user = accounts.redeem_sign_in_link(value=value, address=address_of(request))
    except ServiceError as error:
        return render(request, "first_run.html", {"error": error}, status=422)
    login(request, user, backend=BACKEND)
    messages.success(request, _("You are signed in. Set a password, so that you can come back without a link."))
    return redirect("account" if not user.has_usable_password() else "fleet")


def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign-in")


def account(request: HttpRequest) -> HttpResponse:
    """Password, theme and language of the signed-in person."""
    if theme := request.POST.get("theme"):
        response = HttpResponseRedirect(_next_url(request))
        response.set_cookie("theme", theme, max_age=YEAR, samesite="Lax", secure=request.is_secure())
        return response
    form = PasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        actor = actor_of(request)
        assert actor.user is not None
        try:
            accounts.set_password(user=actor.user, password=form.cleaned_data["password"], actor=actor)
        except ServiceError as error:
            form.add_error("password", error.message)
        else:
            update_session_auth_hash(request, actor.user)
            messages.success(request, _("Your password is set."))
            return redirect("fleet")
    return render(request, "account.html", {"form": form}, status=422 if form.errors else 200)
